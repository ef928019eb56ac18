// SPDX-License-Identifier: MIT
#include "tools/train_codebooks/codebook_plan.h"

#include <cmath>

namespace polarquant::training {
namespace {

// Up to 1.5 bits the window covers signs too; from 2 bits on a plane of signs stands beside it.
constexpr CodebookPlan kPlans[] = {
    {1, false, 1, .531}, {2, false, 2, .279},  {3, false, 3, .148}, {4, true, 2, .0826},
    {5, true, 3, .0415}, {6, true, 4, .0212},  {7, true, 5, .0110}, {8, true, 6, .0060},
    {9, true, 7, .0034}, {10, true, 8, .0021},
};

// Second stages need no plane of signs to search on: up to 2 bits the window alone does better
// (.0777 against .0826), above it runs out of cells.
constexpr CodebookPlan kSecondPlans[] = {
    {2, false, 2, .279}, {4, false, 4, .0777}, {6, true, 4, .0212}, {8, true, 6, .0060}};

constexpr ResidualPlan kResidualPlans[] = {
    {2, kSecondPlans[0]}, {2, kSecondPlans[1]}, {2, kSecondPlans[2]}, {2, kSecondPlans[3]},
    {4, kSecondPlans[0]}, {4, kSecondPlans[1]}, {4, kSecondPlans[2]}, {4, kSecondPlans[3]},
    {6, kSecondPlans[0]}, {6, kSecondPlans[1]}, {6, kSecondPlans[2]}, {6, kSecondPlans[3]},
    {8, kSecondPlans[0]}, {8, kSecondPlans[1]}, {8, kSecondPlans[2]}, {8, kSecondPlans[3]},
};

}  // namespace

std::span<const CodebookPlan> codebook_plans() { return kPlans; }
std::span<const ResidualPlan> residual_plans() { return kResidualPlans; }

TrellisCodebook train_codebook(const CodebookPlan& plan, uint64_t seed) {
  const Schedule schedule;
  TrellisCodebook book{plan.twice_bits, plan.quadrant, plan.step, seed, 0, {}};
  book.cells =
      train_cells(normal_source(plan.quadrant, seed), plan.step, plan.expected_mse, schedule, seed);
  book.mse = measure_mse(normal_source(plan.quadrant, kValidationSeed), book.cells, plan.step,
                         schedule.vectors_to_validate);
  return book;
}

ResidualCodebook train_residual_codebook(const ResidualPlan& plan, const TrellisCodebook& first,
                                         uint64_t seed) {
  const Schedule schedule;
  const CodebookPlan& second = plan.second;
  const auto gain = static_cast<float>(1 / std::sqrt(first.mse));
  ResidualCodebook book{plan.first_twice_bits,
                        gain,
                        0,
                        {second.twice_bits, second.quadrant, second.step, seed, 0, {}}};
  book.second.cells = train_cells(residual_source(first, gain, second.quadrant, seed), second.step,
                                  second.expected_mse, schedule, seed);
  book.second.mse = measure_mse(residual_source(first, gain, second.quadrant, kValidationSeed),
                                book.second.cells, second.step, schedule.vectors_to_validate);
  book.mse = book.second.mse / (static_cast<double>(gain) * gain);
  return book;
}

}  // namespace polarquant::training
