// SPDX-License-Identifier: MIT
// The random orthogonal matrix R that every codec begins with, made from one seed.
//
// hadamard: three rounds of {random signs, Walsh-Hadamard over the front 2^m coordinates, signs,
// one butterfly (x_i ± x_{i+h})/√2 with h = ⌊dim/2⌋ at offset 0 and dim−2h in turn, signs,
// Walsh-Hadamard over the back 2^m}, 2^m the largest power of two that fits. O(dim log dim), any
// dim. Three rounds with the butterfly bring sparse vectors within .6 % of a dense rotation's
// coding error; without the butterfly it is 1.4 to 1.8 times as large where the two transforms
// barely overlap (dim = 127, 511). dense: Haar-distributed, as a product of dim−1 Householder
// reflections (Stewart, SIAM J. Numer. Anal. 17, 1980, §3), O(dim²) to make, keep and apply. none:
// the identity. pca: a matrix that training found, O(dim²), kept as integers of 16 bits: a query
// reads all of it, and sums of integers take half the time of floats that are kept in binary16.
// Rounding adds some 2e-7 to a code's error at 384 dimensions, 6e-7 at 1,536.
//
// The same seed gives the same bytes everywhere: our own random numbers, float additions and
// multiplications in one stated order, integers exactly. Rounds and random numbers are part of the
// format version.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"

namespace polarquant {

inline constexpr int kHadamardRounds = 3;
inline constexpr int kSignLayersPerRound = 3;
/// √½, what a butterfly multiplies by.
inline constexpr float kSqrtHalf = 0.70710678F;

enum class RotationKind : uint8_t { none = 0, hadamard = 1, dense = 2, pca = 3 };

/// The integer that stands for 1 in a basis.
inline constexpr int kBasisOne = 1 << 14;
inline int16_t basis_number(float value) {
  return static_cast<int16_t>(std::lrint(value * float{kBasisOne}));
}
/// The longest that a row of a basis may be: 1 but for rounding, half a unit for each number.
inline constexpr double kLongestBasisRow = 1.02;
/// The largest magnitude of the integers that a vector is rounded to before it is multiplied with a
/// basis of `dim` dimensions. No sum of some of a row's products then leaves 32 bits, by
/// Cauchy-Schwarz.
int most_basis_value(int dim);
/// Rounds x, (dim), to these integers, and returns what 1 of them stands for; 0, with all values 0,
/// where x is too small for a float's inverse.
float round_for_basis(const float* x, int dim, int16_t* values);

/// A hadamard rotation's numbers: nine layers of dim masks, three for each round, in order.
struct HadamardTables {
  const uint32_t* sign_masks;  // 0, or the float's sign bit
  int dim;
  int transform_size;  // 2^m
};

/// x := R·x and x := Rᵀ·x as functions that may be replaced by faster ones with the same results
/// (codec_kernels.h). These are the plain ones.
struct RotationKernels {
  const char* target = "plain";
  /// For a hadamard rotation.
  void (*apply)(const HadamardTables& tables, float* x);
  void (*apply_transpose)(const HadamardTables& tables, float* x);
  /// For R of rows (dim, dim) in units of 1/kBasisOne, no row longer than kLongestBasisRow:
  /// y := R·x of `count` vectors x, y (count, dim), which may be the same, each rounded by
  /// round_for_basis, of which only the first `wanted` coordinates are written; and y := Rᵀ·x of
  /// one, in floats, every sum by rising rows.
  void (*multiply)(const int16_t* rows, int dim, int wanted, int64_t count, const float* x,
                   float* y);
  void (*multiply_transpose)(const int16_t* rows, int dim, const float* x, float* y);

  RotationKernels();
};

class Rotation {
 public:
  /// dim in [1, 65535]. dense takes 2·dim² bytes. pca is hadamard, until a basis takes its place.
  Rotation(RotationKind kind, int dim, uint64_t seed);
  /// pca: rows (dim, dim), orthogonal and of length 1 but for rounding, in units of 1/kBasisOne.
  Rotation(int dim, AlignedVector<int16_t> basis);
  /// (dim, dim), or empty where training found none.
  const AlignedVector<int16_t>& basis() const { return basis_; }

  RotationKind kind() const { return kind_; }
  /// For a hadamard rotation.
  HadamardTables tables() const { return {sign_masks_.data(), dim_, transform_size_}; }

  void use_kernels(const RotationKernels& kernels) { kernels_ = kernels; }

  /// x := R·x and x := Rᵀ·x in place, x of dim floats, or (count, dim): several together cost less
  /// than one by one where R is a matrix. Thread-safe.
  void apply(float* x) const { apply(x, 1, dim_); }
  /// For a matrix only the first `wanted` coordinates cost anything, and the others become 0.
  void apply(float* x, int64_t count, int wanted) const;
  void apply_transpose(float* x) const;

  size_t memory_bytes() const;

 private:
  void draw_signs(int layers, uint64_t seed);
  void draw_reflectors(uint64_t seed);
  size_t reflector_offset(int first) const;
  void reflect(int first, float* x) const;
  RotationKind kind_;
  int dim_;
  int transform_size_ = 1;            // hadamard: 2^m
  std::vector<uint32_t> sign_masks_;  // layers of dim masks: 0, or the float's sign bit
  AlignedVector<float> reflectors_;   // dense: of lengths dim, dim−1, …, 2, one after the other
  AlignedVector<int16_t> basis_;      // pca
  RotationKernels kernels_;
};

}  // namespace polarquant
