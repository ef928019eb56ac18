// SPDX-License-Identifier: MIT
// Singular values, and what is made of them: least squares. In double; matrices as BLAS has them,
// element (i, j) at i + j·rows.
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant {

/// a = u·diag(values)·vᵀ.
struct SingularValues {
  std::vector<double> u;       // (rows, rows), orthogonal
  std::vector<double> values;  // min(rows, columns), falling
  std::vector<double> v;       // (columns, columns), orthogonal
};

/// Throws internal for NaN.
SingularValues find_singular_values(int64_t rows, int64_t columns, const double* a);

/// For each of `count` columns b the shortest x of those with the least ‖a·x − b‖.
struct LeastSquares {
  int64_t rows, columns, count;
  const float* a;  // (rows, columns), column j at j·a_stride
  int64_t a_stride;
  float* b;  // (rows, count), and afterwards x, (columns, count); column j at j·b_stride
  int64_t b_stride;
  /// Singular values of less than this times the largest are taken for 0; at least 1e-7.
  double least_share;
};

/// Returns the singular values, min(rows, columns) of them, falling.
std::vector<double> solve_least_squares(const LeastSquares& problem);

}  // namespace polarquant
