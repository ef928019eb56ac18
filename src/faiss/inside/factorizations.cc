// SPDX-License-Identifier: MIT
// Golub and Van Loan, Matrix Computations, sections 5.2.1 (QR) and 3.4 (LU), one column at a time:
// FAISS factors a matrix once in a training.
#include "src/faiss/inside/factorizations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/parallel.h"

namespace polarquant {
namespace {

/// Multiplications that pay for other threads.
constexpr int64_t kLeastWork = int64_t{1} << 17;

/// Σ a_i·b_i as in codec/dot.h: 16 interleaved sums, then a tree.
template <class T>
double dot(const T* a, const T* b, int64_t n) {
  double sums[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int64_t lane = 0; lane < 16; ++lane)
      sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
  for (int64_t lane = 0; i < n; ++i, ++lane)
    sums[lane] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (int64_t half = 8; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

template <class T>
void add_multiple(double factor, const T* x, int64_t n, T* y) {
  const T rounded = static_cast<T>(factor);
  for (int64_t i = 0; i < n; ++i) y[i] += rounded * x[i];
}

/// Columns [first, end) of rows [top, rows) become (1 − factor·v·vᵀ) times themselves; v has 1 at
/// `top` and `tail` below.
template <class T>
void reflect_columns(const MatrixInPlace<T>& matrix, int64_t top, const T* tail, T factor,
                     int64_t first, int64_t end) {
  const int64_t below = matrix.rows - top - 1;
  const int64_t columns = end - first;
  const int threads = thread_count(columns * below < kLeastWork ? 1 : 0, columns);
  parallel_for(columns, threads, [&](int64_t j, int) {
    T* column = matrix.column(first + j) + top;
    const double share = static_cast<double>(factor) *
                         (static_cast<double>(column[0]) + dot(tail, column + 1, below));
    column[0] -= static_cast<T>(share);
    add_multiple(-share, tail, below, column + 1);
  });
}

template <class T>
void exchange_rows(const MatrixInPlace<T>& matrix, int64_t i, int64_t other) {
  if (i == other) return;
  for (int64_t j = 0; j < matrix.columns; ++j)
    std::swap(matrix.column(j)[i], matrix.column(j)[other]);
}

}  // namespace

template <class T>
void factor_qr(const MatrixInPlace<T>& matrix, T* factors) {
  for (int64_t k = 0; k < std::min(matrix.rows, matrix.columns); ++k) {
    T* x = matrix.column(k) + k;
    const int64_t below = matrix.rows - k - 1;
    const double tail = dot(x + 1, x + 1, below);
    factors[k] = T{0};
    if (tail == 0) continue;
    const double head = static_cast<double>(x[0]);
    const double norm = std::sqrt(head * head + tail);
    // The sign that adds: no digits are lost.
    const double length = head > 0 ? -norm : norm;
    factors[k] = static_cast<T>((length - head) / length);
    for (int64_t i = 1; i <= below; ++i)
      x[i] = static_cast<T>(static_cast<double>(x[i]) / (head - length));
    x[0] = static_cast<T>(length);
    reflect_columns(matrix, k, x + 1, factors[k], k + 1, matrix.columns);
  }
}

template <class T>
void form_orthogonal(const MatrixInPlace<T>& matrix, int64_t reflections, const T* factors) {
  for (int64_t j = reflections; j < matrix.columns; ++j) {
    std::fill_n(matrix.column(j), matrix.rows, T{0});
    matrix.column(j)[j] = T{1};
  }
  for (int64_t k = reflections; k-- > 0;) {
    T* v = matrix.column(k) + k;
    reflect_columns(matrix, k, v + 1, factors[k], k + 1, matrix.columns);
    v[0] = T{1} - factors[k];
    for (int64_t i = 1; i < matrix.rows - k; ++i) v[i] *= -factors[k];
    std::fill_n(matrix.column(k), k, T{0});
  }
}

template <class T>
bool factor_lu(const MatrixInPlace<T>& matrix, int64_t* pivots) {
  const int64_t n = matrix.rows;
  for (int64_t k = 0; k < n; ++k) {
    T* pivot_column = matrix.column(k);
    int64_t largest = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(pivot_column[i]) > std::fabs(pivot_column[largest])) largest = i;
    pivots[k] = largest;
    if (!(std::fabs(pivot_column[largest]) > T{0})) return false;
    exchange_rows(matrix, k, largest);
    for (int64_t i = k + 1; i < n; ++i) pivot_column[i] /= pivot_column[k];
    for (int64_t j = k + 1; j < n; ++j) {
      T* column = matrix.column(j);
      const T factor = column[k];
      for (int64_t i = k + 1; i < n; ++i) column[i] -= factor * pivot_column[i];
    }
  }
  return true;
}

template <class T>
void invert_lu(const MatrixInPlace<T>& matrix, const int64_t* pivots) {
  const int64_t n = matrix.rows;
  std::vector<T> inverse(static_cast<size_t>(n * n));
  const MatrixInPlace<T> solved{n, n, inverse.data(), n};
  for (int64_t j = 0; j < n; ++j) solved.column(j)[j] = T{1};
  for (int64_t k = 0; k < n; ++k) exchange_rows(solved, k, pivots[k]);
  for (int64_t j = 0; j < n; ++j) {
    T* x = solved.column(j);
    for (int64_t k = 0; k < n; ++k)
      for (int64_t i = k + 1; i < n; ++i) x[i] -= x[k] * matrix.column(k)[i];
    for (int64_t k = n; k-- > 0;) {
      x[k] /= matrix.column(k)[k];
      for (int64_t i = 0; i < k; ++i) x[i] -= x[k] * matrix.column(k)[i];
    }
  }
  for (int64_t j = 0; j < n; ++j) std::copy_n(solved.column(j), n, matrix.column(j));
}

template void factor_qr(const MatrixInPlace<float>& matrix, float* factors);
template void factor_qr(const MatrixInPlace<double>& matrix, double* factors);
template void form_orthogonal(const MatrixInPlace<float>& matrix, int64_t reflections,
                              const float* factors);
template void form_orthogonal(const MatrixInPlace<double>& matrix, int64_t reflections,
                              const double* factors);
template bool factor_lu(const MatrixInPlace<float>& matrix, int64_t* pivots);
template bool factor_lu(const MatrixInPlace<double>& matrix, int64_t* pivots);
template void invert_lu(const MatrixInPlace<float>& matrix, const int64_t* pivots);
template void invert_lu(const MatrixInPlace<double>& matrix, const int64_t* pivots);

}  // namespace polarquant
