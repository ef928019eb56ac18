// SPDX-License-Identifier: MIT
// The axes along which vectors spread most: eigenvectors of their second moments, in double
// (symmetric_eigen.h). Vectors come in any number, a few at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant {

class SecondMoments {
 public:
  explicit SecondMoments(int dim);

  /// Takes one vector, (dim).
  void add(const float* x);

  struct Axes {
    /// (dim, dim), one axis a row, of length 1, by falling variance; the first of an axis's largest
    /// coordinates is positive.
    std::vector<double> rows;
    /// (dim): the mean of ⟨axis, x⟩² over the vectors, ≥ 0.
    std::vector<double> variances;
  };
  /// The axes of at least one vector. Throws internal if no solution is found. Memory: 4·dim²
  /// doubles at the most, with what is held already. The same bytes for the same vectors on one
  /// machine and BLAS, whose sums may differ elsewhere; on every machine without BLAS.
  Axes axes();

 private:
  static constexpr int kBlockRows = 256;

  void add_block();

  int dim_;
  int64_t count_ = 0;
  int in_block_ = 0;
  std::vector<double> block_;  // (kBlockRows, dim)
  std::vector<double> sums_;   // (dim, dim), columns from the row's own on
};

}  // namespace polarquant
