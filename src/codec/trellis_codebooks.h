// SPDX-License-Identifier: MIT
// The constant codebooks of the flagship codec and their errors. trellis_codebooks.cc is written by
// tools/train_codebooks, which says how; a change there changes stored bytes.
#pragma once

#include <cstdint>
#include <span>

#include "src/codec/trellis.h"

namespace polarquant {

/// Cells for `step` bits a pair. With a quadrant plane the cells hold |x|, |y|, without it x, y.
struct TrellisCodebook {
  int twice_bits;  // 2 × bits per dimension, quadrant plane included
  bool quadrant;   // whether a plane of signs (1 bit a dimension) goes with it
  int step;        // bits a pair of the cell plane
  uint64_t seed;   // of the training run that made it
  double mse;      // error per dimension on the unit Gaussian, dim 1024
  Cells cells;

  double bits() const { return twice_bits / 2.0; }
};

/// A second stage codes gain·(u − û) of one first stage.
struct ResidualCodebook {
  int first_twice_bits;  // 2 × bits per dimension of the first stage
  float gain;            // brings the first stage's error to unit variance
  double mse;            // error per dimension after both stages
  TrellisCodebook second;
};

/// Ascending by twice_bits: 0.5 to 5 bits a dimension in half-bit steps.
std::span<const TrellisCodebook> trellis_codebooks();
/// Ascending by first stage, then second.
std::span<const ResidualCodebook> residual_codebooks();

/// nullptr when there is none.
inline const TrellisCodebook* find_trellis_codebook(int twice_bits) {
  for (const TrellisCodebook& book : trellis_codebooks()) {
    if (book.twice_bits == twice_bits) return &book;
  }
  return nullptr;
}
inline const ResidualCodebook* find_residual_codebook(int first_twice_bits, int second_twice_bits) {
  for (const ResidualCodebook& book : residual_codebooks()) {
    if (book.first_twice_bits == first_twice_bits && book.second.twice_bits == second_twice_bits) {
      return &book;
    }
  }
  return nullptr;
}

}  // namespace polarquant
