// SPDX-License-Identifier: MIT
// Arguments of encoding kernels: pointers and sizes, passed by value.
#pragma once

#include <cstdint>

#include "cuda/interface.h"

namespace polarquant::cuda {

/// Bits of a window; all but its own come from the pairs before.
inline constexpr int kWindowBits = 8;
inline constexpr int kCells = 256;
/// Pairs on either side of a ring's joint that are searched for its start (TrellisEncoder).
inline constexpr int kWarmupPairs = 32;

struct EncodeView {
  int32_t dim;
  int32_t pairs;
  int32_t step_bits;
  int32_t has_signs;
  uint32_t sign_bytes;
  uint32_t code_bytes;  // of both planes
  uint32_t row_bytes;   // with factors
  Rotation rotation;
  int32_t transform_size;
  float transform_scale;
  int32_t is_l2;
  int32_t is_cosine;
  FactorForm factor_form;
  float scale_unit;
  float bias_unit;
  float max_scale;
  double root_dim;
  double shortest;  // of ‖x−c‖: below it the row is the centre
  double longest;
  double nearly_centre2;  // ‖x−c‖² up to this is 0
  double least_alignment;
  const uint32_t* sign_masks;  // (9, dim)
  const float* centre;         // (dim)
  const float* cell_x;         // (256)
  const float* cell_y;
};

/// What a row's planes do not have.
struct RowLength {
  double norm;  // 0: the row is the centre
  double bias;
};

/// The first row that cannot be coded, and why, in one number: the largest number is none.
using Refused = unsigned long long;
inline constexpr int kRefusalBits = 2;
inline constexpr Refused kNoneRefused = ~Refused{0};

}  // namespace polarquant::cuda
