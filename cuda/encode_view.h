// SPDX-License-Identifier: MIT
// Arguments of encoding kernels: pointers and sizes, passed by value.
#pragma once

#include <cstdint>

#include "cuda/rotation_view.h"

namespace polarquant::cuda {

/// Bits of a window; all but its own come from the pairs before.
inline constexpr int kWindowBits = 8;
inline constexpr int kCells = 256;
/// Pairs on either side of a ring's joint that are searched for its start (TrellisEncoder).
inline constexpr int kWarmupPairs = 32;
inline constexpr int kExactPairs = 32;
/// Sums that a dot product is made of (src/codec/dot.h).
inline constexpr int kDotSums = 16;

struct EncodeView {
  int32_t dim;
  uint32_t code_bytes;
  uint32_t row_bytes;  // with factors
  RotationView rotation;
  int32_t is_l2;
  int32_t is_cosine;
  FactorForm factor_form;
  float scale_unit;
  float bias_unit;
  float min_scale;
  float max_scale;
  double root_dim;
  double shortest;  // of ‖x−c‖: below it the row is the centre
  double longest;
  double nearly_centre2;  // ‖x−c‖² up to this is 0
  double least_alignment;
  const float* centre;  // (dim)
  const float* scales;  // (segments), or null
};

/// Coordinates of one rate; see EncoderPart.
struct EncodePart {
  CodeKind kind;
  int32_t step_bits;
  int32_t has_signs;
  int32_t first;
  int32_t dim;
  int32_t pairs;
  uint32_t sign_bytes;
  uint32_t signs_offset;
  uint32_t codes_offset;
  int32_t is_first;
  int32_t is_last;
  const float* cell_x;  // (256)
  const float* cell_y;

  /// As TrellisEncoder's: of so few pairs the best ring is searched for.
  __host__ __device__ bool is_exact() const { return pairs <= kExactPairs; }
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

/// Rows that are coded together, and what is known of them on the way.
struct EncodeRows {
  int64_t n;
  const float* x;     // (n, dim)
  int64_t first_row;  // the number of row 0, by which it is refused
  float* u;  // (n, dim): √dim·R(x−c)/‖x−c‖; 0 for the centre and what is refused
  RowLength* lengths;
  /// Of Rotation::basis, u before it as integers, times units: (n, 2, value_stride), a value v is
  /// 256·high + low, low in a row's first plane, high in its second.
  int8_t* values;
  float* units;
  double* sums;    // (n, kDotSums): of ⟨u, û⟩ over the parts so far, where there are several
  uint8_t* codes;  // (n, row_bytes)
  Refused* refused;
};

}  // namespace polarquant::cuda
