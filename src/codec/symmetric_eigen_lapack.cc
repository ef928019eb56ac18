// SPDX-License-Identifier: MIT
#include "src/codec/symmetric_eigen.h"
#include "src/core/status.h"

// Fortran names: every BLAS and LAPACK has these, not every one has C headers.
extern "C" {
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}

namespace polarquant {

// Fortran's columns are rows here, so its lower triangle is the upper one.
void add_second_moments(int dim, int n, const double* rows, double* matrix) {
  const double one = 1;
  dsyrk_("L", "N", &dim, &n, &one, rows, &dim, &one, matrix, &dim);
}

std::vector<double> solve_symmetric_eigen(int dim, std::vector<double>* matrix) {
  std::vector<double> values(static_cast<size_t>(dim));
  int info = 0;
  double work_size = 0;
  int integers_size = 0;
  const int ask = -1;
  dsyevd_("V", "L", &dim, matrix->data(), &dim, values.data(), &work_size, &ask, &integers_size,
          &ask, &info);
  require(info == 0 && work_size < 2147483647.0, StatusCode::internal,
          "LAPACK's dsyevd: status {} for {} dimensions", info, dim);
  const int size = static_cast<int>(work_size);
  std::vector<double> work(static_cast<size_t>(size));
  std::vector<int> integers(static_cast<size_t>(integers_size));
  dsyevd_("V", "L", &dim, matrix->data(), &dim, values.data(), work.data(), &size, integers.data(),
          &integers_size, &info);
  require(info == 0, StatusCode::internal, "LAPACK's dsyevd: status {} for {} dimensions", info,
          dim);
  return values;
}

}  // namespace polarquant
