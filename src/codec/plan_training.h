// SPDX-License-Identifier: MIT
// Learns what "-pca" stands for from a sample: the axes along which directions x−c spread, how much
// variance each segment of 64 of them has, and so which rate. Within a segment the axes are rotated
// at random, which heavy-tailed coordinates need. Rows that are held out tell whether this is
// better than the untrained code.
#pragma once

#include <cstdint>
#include <functional>

#include "src/codec/codec_kernels.h"
#include "src/codec/planned_quantizer.h"
#include "src/codec/segment_plan.h"
#include "src/core/aligned_buffer.h"

namespace polarquant {

/// Fewer rows for each dimension say too little, and are refused.
inline constexpr int64_t kMinRowsPerDim = 2;
inline constexpr int64_t kGoodRowsPerDim = 10;

/// Of n rows, those that nothing is learned from, but what is learned is judged by.
bool is_held_out(int64_t row, int64_t n);

struct TrainedPlan {
  /// (dim, dim), for Rotation; empty where the untrained rotation with an even plan is as good.
  AlignedVector<int16_t> basis;
  SegmentPlan plan;
  PlanErrors errors;
};

/// Rows by their directions from the centre c.
struct RowDirections {
  int dim;
  int64_t n;
  /// Writes √dim·(x−c)/‖x−c‖ of a row, (dim), not rotated; false where x is c.
  std::function<bool(int64_t row, float* u)> write;
};

/// A plan for the bytes of `untrained`, a quantizer of twice_bits/2 bits a dimension, which it has
/// to beat. n ≥ kMinRowsPerDim·dim rows; throws bad_argument for fewer, or when all of them are c.
TrainedPlan train_plan(const RowDirections& rows, int twice_bits, const Quantizer& untrained,
                       uint64_t seed, const CodecKernels& kernels);

/// The same for `bytes` of a code that has no untrained counterpart, whatever the rows are.
TrainedPlan train_plan_of_bytes(const RowDirections& rows, size_t bytes, uint64_t seed,
                                const CodecKernels& kernels);

/// Mean over every stride-th row from the first on of ‖û/a − u‖²/‖u‖², a = ⟨u,û⟩/‖u‖², of the
/// quantizer's scaled_dims() in the divisor: what a row's code adds to its scores, unbiased as they
/// are. Rows go through `rotation`, and û comes back
/// through it: a basis in integers is not quite orthonormal, which codes of 8 bits notice.
struct CodingError {
  double error = 0;      // 0: nothing was coded
  double alignment = 0;  // mean a
};
CodingError coding_error(const Rotation& rotation, const Quantizer& quantizer,
                         const RowDirections& rows, int64_t first, int64_t stride);

}  // namespace polarquant
