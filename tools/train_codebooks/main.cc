// SPDX-License-Identifier: MIT
// Writes src/codec/trellis_codebooks.cc to standard output; progress goes to standard error.
// Usage: train_codebooks > trellis_codebooks.cc   (about half an hour on two cores)
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "tools/train_codebooks/codebook_plan.h"

using namespace polarquant;            // NOLINT: a program, not a header
using namespace polarquant::training;  // NOLINT

namespace {

// Trains kStarts codebooks of each plan in parallel and keeps the best of each.
template <typename Book, typename Train, typename Mse>
std::vector<Book> train_all(int plans, const Train& train, const Mse& mse) {
  std::vector<Book> runs(static_cast<size_t>(plans) * kStarts);
  const auto jobs = static_cast<int64_t>(runs.size());
  parallel_for(jobs, thread_count(0, jobs), [&](int64_t job, int) {
    runs[job] = train(static_cast<int>(job / kStarts), static_cast<uint64_t>(job % kStarts + 1));
    fmt::print(stderr, "run {} of {}: mse {:.6f}\n", job + 1, jobs, mse(runs[job]));
  });
  std::vector<Book> best;
  for (int plan = 0; plan < plans; ++plan) {
    const Book* kept = &runs[static_cast<size_t>(plan) * kStarts];
    for (int start = 1; start < kStarts; ++start) {
      const Book* other = &runs[static_cast<size_t>(plan) * kStarts + start];
      if (mse(*other) < mse(*kept)) kept = other;
    }
    best.push_back(*kept);
  }
  return best;
}

std::string print_floats(const float* values) {
  std::string text = "{";
  for (int i = 0; i < kCells; ++i) {
    if (i % 6 == 0) text += "\n         ";
    text += fmt::format("{:a}F,", values[i]);
  }
  text.back() = '}';
  return text;
}

std::string print_book(const TrellisCodebook& book) {
  return fmt::format("{{{}, {}, {}, {}, {:.6g},\n     {{{},\n        {}}}}}", book.twice_bits,
                     book.quadrant, book.step, book.seed, book.mse, print_floats(book.cells.x),
                     print_floats(book.cells.y));
}

}  // namespace

int main() {
  const auto plans = codebook_plans();
  const auto books = train_all<TrellisCodebook>(
      static_cast<int>(plans.size()),
      [&](int plan, uint64_t seed) { return train_codebook(plans[plan], seed); },
      [](const TrellisCodebook& book) { return book.mse; });
  const auto first_stage = [&](int twice_bits) -> const TrellisCodebook& {
    for (const TrellisCodebook& book : books) {
      if (book.twice_bits == twice_bits) return book;
    }
    fail(StatusCode::internal, "no codebook of {} half bits for a first stage", twice_bits);
  };
  const auto residuals = residual_plans();
  const auto residual_books = train_all<ResidualCodebook>(
      static_cast<int>(residuals.size()),
      [&](int plan, uint64_t seed) {
        const ResidualPlan& row = residuals[plan];
        return train_residual_codebook(row, first_stage(row.first_twice_bits), seed);
      },
      [](const ResidualCodebook& book) { return book.mse; });

  fmt::print(
      "// SPDX-License-Identifier: MIT\n"
      "// Written by tools/train_codebooks; not edited by hand.\n"
      "// clang-format off\n"
      "#include \"src/codec/trellis_codebooks.h\"\n\n"
      "namespace polarquant {{\nnamespace {{\n\n"
      "constexpr TrellisCodebook kTrellisCodebooks[] = {{\n");
  for (const TrellisCodebook& book : books) fmt::print("    {},\n", print_book(book));
  fmt::print("}};\n\nconstexpr ResidualCodebook kResidualCodebooks[] = {{\n");
  for (const ResidualCodebook& book : residual_books) {
    fmt::print("    {{{}, {:a}F, {:.6g},\n    {}}},\n", book.first_twice_bits, book.gain, book.mse,
               print_book(book.second));
  }
  fmt::print(
      "}};\n\n}}  // namespace\n\n"
      "std::span<const TrellisCodebook> trellis_codebooks() {{ return kTrellisCodebooks; }}\n"
      "std::span<const ResidualCodebook> residual_codebooks() {{ return kResidualCodebooks; }}\n\n"
      "}}  // namespace polarquant\n");
  return 0;
}
