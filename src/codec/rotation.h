// SPDX-License-Identifier: MIT
// The random orthogonal matrix R in front of every codec, made from one seed.
//
// hadamard: three rounds of {random signs, Walsh-Hadamard over the front 2^m coordinates, signs, one
// butterfly (x_i ± x_{i+h})/√2 with h = ⌊dim/2⌋ at offset 0 and dim−2h in turn, signs,
// Walsh-Hadamard over the back 2^m}, 2^m the largest power of two that fits. O(dim log dim), any dim.
// Three rounds with the butterfly bring sparse vectors within .6 % of a dense rotation's coding
// error; without the butterfly it is 1.4 to 1.8 times as large where the two transforms barely
// overlap (dim = 127, 511).
// dense: Haar-distributed, as a product of dim−1 Householder reflections (Stewart, SIAM J. Numer.
// Anal. 17, 1980, §3), O(dim²) to make, keep and apply.
// none: the identity.
//
// The same seed gives the same bytes everywhere: our own random numbers, float additions and
// multiplications in one stated order. Rounds and random numbers are part of the format version.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"

namespace polarquant {

enum class RotationKind : uint8_t { none = 0, hadamard = 1, dense = 2 };

class Rotation {
 public:
  /// dim in [1, 65535]. dense takes 2·dim² bytes.
  Rotation(RotationKind kind, int dim, uint64_t seed);

  /// x := R·x and x := Rᵀ·x in place, x of dim floats. Thread-safe.
  void apply(float* x) const;
  void apply_transpose(float* x) const;

  size_t memory_bytes() const;

 private:
  void draw_signs(int layers, uint64_t seed);
  void draw_reflectors(uint64_t seed);
  void flip(int layer, float* x) const;
  void butterfly(int round, float* x) const;
  size_t reflector_offset(int first) const;
  void reflect(int first, float* x) const;

  RotationKind kind_;
  int dim_;
  int transform_size_ = 1;            // hadamard: 2^m
  std::vector<uint32_t> sign_masks_;  // layers of dim masks: 0, or the float's sign bit
  AlignedVector<float> reflectors_;   // dense: of lengths dim, dim−1, …, 2, one behind the other
};

}  // namespace polarquant
