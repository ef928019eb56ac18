// SPDX-License-Identifier: MIT
// Products of matrices for the best target of this machine, in the place of a BLAS: for builds that
// take FAISS's sources inside. Each product is rounded before it is added, and each element sums in
// one order, so that all targets and any number of threads give the same bits.
#pragma once

#include <cstdint>

namespace polarquant {

/// A matrix as BLAS has it: element (i, j) is data[i + j·stride], or data[j + i·stride] if it is
/// transposed.
template <class T>
struct MatrixView {
  const T* data;
  int64_t stride;
  bool transposed;
};

template <class T>
struct MatrixProduct {
  int64_t rows, columns, inner;
  T alpha;
  MatrixView<T> a;  // (rows, inner)
  MatrixView<T> b;  // (inner, columns)
  T beta;
  T* c;  // (rows, columns), element (i, j) at i + j·c_stride
  int64_t c_stride;
};

/// c := alpha·a·b + beta·c; with beta = 0, c is not read. For float and double. Inner products are
/// summed in parts of kSumOfProducts, each from its first to its last. Runs on the calling thread's
/// default number of threads. Throws std::bad_alloc, and cancelled as every parallel_for.
template <class T>
void multiply_matrices(const MatrixProduct<T>& product);

constexpr int64_t kSumOfProducts = 512;

}  // namespace polarquant
