// SPDX-License-Identifier: MIT
// The functions of BLAS and LAPACK that FAISS's sources call, with the names and arguments that
// FAISS declares, which are Fortran's: column after column, all by address. Work space is not
// needed: who asks for its size hears 1.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "src/codec/symmetric_eigen.h"
#include "src/faiss/inside/factorizations.h"
#include "src/faiss/inside/singular_values.h"
#include "src/simd/matrix_product.h"

namespace polarquant {
namespace {

/// "T", "Transposed", "t"; "C", conjugate, is the same for real numbers.
bool is_transposed(const char* text) { return std::strchr("TtCc", text[0]) != nullptr; }
bool is_upper(const char* text) { return text[0] == 'U' || text[0] == 'u'; }

template <class T>
bool asks_for_size(const int* work_size, T* work, int* info) {
  *info = 0;
  if (*work_size != -1) return false;
  *work = T{1};
  return true;
}

/// What a symmetric product gives beside its triangle is thrown away.
template <class T>
void multiply_triangle(bool upper, MatrixProduct<T> product) {
  const int64_t n = product.rows;
  T* c = product.c;
  std::vector<T> square(static_cast<size_t>(n * n));
  const T beta = product.beta;
  product.beta = T{0};
  product.c = square.data();
  const int64_t stride = std::exchange(product.c_stride, n);
  multiply_matrices(product);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) {
      T& element = c[i + j * stride];
      const T kept = beta == T{0} ? T{0} : beta * element;
      element = square[static_cast<size_t>(i + j * n)] + kept;
    }
  }
}

/// Eigenvectors in place of the matrix, one a column.
void solve_eigen_in_place(bool upper, int64_t n, double* a, int64_t stride, double* values) {
  // solve_symmetric_eigen reads the upper triangle of rows, which is the lower one of columns.
  std::vector<double> matrix(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j)
      matrix[static_cast<size_t>(i * n + j)] = upper ? a[i + j * stride] : a[j + i * stride];
  const std::vector<double> found = solve_symmetric_eigen(static_cast<int>(n), &matrix);
  std::copy(found.begin(), found.end(), values);
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(&matrix[static_cast<size_t>(i * n)], n, a + i * stride);
}

template <class T>
struct PlaceOfSingularValues {
  T* values;
  T* u;
  int64_t u_stride;
  T* v_transposed;
  int64_t v_stride;
};

template <class T>
void find_all_singular_values(const MatrixInPlace<T>& matrix,
                              const PlaceOfSingularValues<T>& place) {
  const int64_t m = matrix.rows, n = matrix.columns;
  std::vector<double> a(static_cast<size_t>(m * n));
  for (int64_t j = 0; j < n; ++j) std::copy_n(matrix.column(j), m, &a[static_cast<size_t>(j * m)]);
  const SingularValues found = find_singular_values(m, n, a.data());
  std::transform(found.values.begin(), found.values.end(), place.values,
                 [](double value) { return static_cast<T>(value); });
  for (int64_t j = 0; j < m; ++j)
    for (int64_t i = 0; i < m; ++i)
      place.u[i + j * place.u_stride] = static_cast<T>(found.u[static_cast<size_t>(i + j * m)]);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      place.v_transposed[j + i * place.v_stride] =
          static_cast<T>(found.v[static_cast<size_t>(i + j * n)]);
}

template <class T>
void factor_lu_of_blas(const int* n, T* a, const int* lda, int* pivots, int* info) {
  std::vector<int64_t> rows(static_cast<size_t>(*n));
  *info = factor_lu<T>({*n, *n, a, *lda}, rows.data()) ? 0 : 1;
  for (size_t i = 0; i < rows.size(); ++i) pivots[i] = static_cast<int>(rows[i]) + 1;
}

template <class T>
void invert_lu_of_blas(const int* n, T* a, const int* lda, const int* pivots) {
  std::vector<int64_t> rows(static_cast<size_t>(*n));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = pivots[i] - 1;
  invert_lu<T>({*n, *n, a, *lda}, rows.data());
}

}  // namespace
}  // namespace polarquant

using namespace polarquant;  // NOLINT: what follows are definitions of this namespace's forms

extern "C" {

int sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
           const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
           const float* beta, float* c, const int* ldc) {
  multiply_matrices<float>({*m,
                            *n,
                            *k,
                            *alpha,
                            {a, *lda, is_transposed(transa)},
                            {b, *ldb, is_transposed(transb)},
                            *beta,
                            c,
                            *ldc});
  return 0;
}

int dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
           const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
           const double* beta, double* c, const int* ldc) {
  multiply_matrices<double>({*m,
                             *n,
                             *k,
                             *alpha,
                             {a, *lda, is_transposed(transa)},
                             {b, *ldb, is_transposed(transb)},
                             *beta,
                             c,
                             *ldc});
  return 0;
}

int ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
           const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  const bool transposed = is_transposed(trans);
  multiply_triangle<float>(
      is_upper(uplo),
      {*n, *n, *k, *alpha, {a, *lda, transposed}, {a, *lda, !transposed}, *beta, c, *ldc});
  return 0;
}

int dsyev_(const char* /*jobz*/, const char* uplo, const int* n, double* a, const int* lda,
           double* w, double* work, const int* lwork, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  solve_eigen_in_place(is_upper(uplo), *n, a, *lda, w);
  return 0;
}

int sgesvd_(const char* /*jobu*/, const char* /*jobvt*/, const int* m, const int* n, float* a,
            const int* lda, float* s, float* u, const int* ldu, float* vt, const int* ldvt,
            float* work, const int* lwork, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  find_all_singular_values<float>({*m, *n, a, *lda}, {s, u, *ldu, vt, *ldvt});
  return 0;
}

int dgesvd_(const char* /*jobu*/, const char* /*jobvt*/, const int* m, const int* n, double* a,
            const int* lda, double* s, double* u, const int* ldu, double* vt, const int* ldvt,
            double* work, const int* lwork, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  find_all_singular_values<double>({*m, *n, a, *lda}, {s, u, *ldu, vt, *ldvt});
  return 0;
}

int sgeqrf_(const int* m, const int* n, float* a, const int* lda, float* tau, float* work,
            const int* lwork, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  factor_qr<float>({*m, *n, a, *lda}, tau);
  return 0;
}

int sorgqr_(const int* m, const int* n, const int* k, float* a, const int* lda, const float* tau,
            float* work, const int* lwork, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  form_orthogonal<float>({*m, *n, a, *lda}, *k, tau);
  return 0;
}

int sgelsd_(const int* m, const int* n, const int* nrhs, const float* a, const int* lda, float* b,
            const int* ldb, float* s, const float* rcond, int* rank, float* work, const int* lwork,
            int* /*iwork*/, int* info) {
  if (asks_for_size(lwork, work, info)) return 0;
  const double share = static_cast<double>(*rcond);
  const std::vector<double> values = solve_least_squares({*m, *n, *nrhs, a, *lda, b, *ldb, share});
  *rank = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    s[i] = static_cast<float>(values[i]);
    if (values[i] > std::max(share, 1e-7) * values[0]) ++*rank;
  }
  return 0;
}

void sgetrf_(const int* /*m*/, const int* n, float* a, const int* lda, int* ipiv, int* info) {
  factor_lu_of_blas(n, a, lda, ipiv, info);
}
void dgetrf_(const int* /*m*/, const int* n, double* a, const int* lda, int* ipiv, int* info) {
  factor_lu_of_blas(n, a, lda, ipiv, info);
}

void sgetri_(const int* n, float* a, const int* lda, const int* ipiv, float* work, const int* lwork,
             int* info) {
  if (!asks_for_size(lwork, work, info)) invert_lu_of_blas(n, a, lda, ipiv);
}
void dgetri_(const int* n, double* a, const int* lda, const int* ipiv, double* work,
             const int* lwork, int* info) {
  if (!asks_for_size(lwork, work, info)) invert_lu_of_blas(n, a, lda, ipiv);
}
}
