// SPDX-License-Identifier: MIT
// QR and LU of matrices as LAPACK leaves them: element (i, j) at a[i + j·stride]. For float and
// double.
#pragma once

#include <cstdint>

namespace polarquant {

template <class T>
struct MatrixInPlace {
  int64_t rows, columns;
  T* a;
  int64_t stride;
  T* column(int64_t j) const { return a + j * stride; }
};

/// Householder reflections make the matrix upper triangular. Reflection i is 1 − factors[i]·v·vᵀ; v
/// has zeros before element i, 1 there, and what stands below the diagonal of column i.
/// min(rows, columns) factors.
template <class T>
void factor_qr(const MatrixInPlace<T>& matrix, T* factors);

/// The first `columns` columns of the product of the first `reflections` of factor_qr, in their
/// place. reflections ≤ columns ≤ rows.
template <class T>
void form_orthogonal(const MatrixInPlace<T>& matrix, int64_t reflections, const T* factors);

/// L, of diagonal 1, and U in place of a square matrix, with rows exchanged: row i with row
/// pivots[i] ≥ i, in turn. False if it has no inverse.
template <class T>
bool factor_lu(const MatrixInPlace<T>& matrix, int64_t* pivots);

/// The inverse in place of factor_lu's result.
template <class T>
void invert_lu(const MatrixInPlace<T>& matrix, const int64_t* pivots);

}  // namespace polarquant
