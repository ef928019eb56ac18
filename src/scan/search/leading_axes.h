// SPDX-License-Identifier: MIT
// Few numbers in the place of a vector, by which its inner products are bounded: its coordinates
// along the axes on which some vectors are longest, and the length of the rest. With P these axes
// and r(x)² = ‖x‖² − ‖Px‖², Cauchy-Schwarz says ⟨x,y⟩ ≤ ⟨Px,Py⟩ + r(x)·r(y), which is the inner
// product of (Px, r(x)) and (Py, r(y)).
#pragma once

#include <cstdint>

#include "src/codec/rotation.h"
#include "src/core/aligned_buffer.h"

namespace polarquant {

class LeadingAxes {
 public:
  /// Axes of vectors, (count, dim), finite, count ≥ 1. `size`: the numbers in the place of a
  /// vector, 2 to dim. Runs on the calling thread's default number of threads; the same axes on
  /// every machine. Time: about 64·size²·dim steps in floats.
  LeadingAxes(int64_t count, int dim, const float* vectors, int size);

  int size() const { return size_; }
  /// out, (n, size): for vectors x, (n, dim), finite. Rotated, so that no number is much larger
  /// than the others.
  void reduce(int64_t n, const float* x, float* out) const;
  /// ⟨x,y⟩ is at most the inner product of their numbers and error_bound()·‖x‖‖y‖: what rounding
  /// does.
  double error_bound() const { return error_bound_; }
  size_t memory_bytes() const;

 private:
  int dim_;
  int size_;
  double error_bound_;
  AlignedVector<int16_t> axes_;  // (size − 1, dim), as a Rotation's basis
  Rotation rotation_;            // of the numbers
  RotationKernels kernels_;
};

}  // namespace polarquant
