// SPDX-License-Identifier: MIT
// Which codebooks there are and how each is made: one row a codebook.
#pragma once

#include <cstdint>
#include <span>

#include "tools/train_codebooks/training.h"

namespace polarquant::training {

struct CodebookPlan {
  int twice_bits;
  bool quadrant;
  int step;
  double expected_mse;  // docs/codec.md; sets the training noise
};

/// Ascending by twice_bits.
std::span<const CodebookPlan> codebook_plans();

struct ResidualPlan {
  int first_twice_bits;
  CodebookPlan second;
};

/// Ascending by first stage, then second.
std::span<const ResidualPlan> residual_plans();

/// Starts tried for each codebook; the one of least error on samples of kValidationSeed is kept.
inline constexpr int kStarts = 3;
inline constexpr uint64_t kValidationSeed = 1000;

/// The codebook that one start gives: the bytes of the constants follow from (plan, seed) alone.
TrellisCodebook train_codebook(const CodebookPlan& plan, uint64_t seed);
ResidualCodebook train_residual_codebook(const ResidualPlan& plan, const TrellisCodebook& first,
                                         uint64_t seed);

}  // namespace polarquant::training
