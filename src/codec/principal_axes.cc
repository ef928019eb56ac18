// SPDX-License-Identifier: MIT
#include "src/codec/principal_axes.h"

#include <algorithm>
#include <cmath>

#include "src/core/checked_size.h"
#include "src/core/status.h"

// Fortran names: every BLAS and LAPACK has these, not every one has C headers.
extern "C" {
void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}

namespace polarquant {
namespace {

/// Eigenvalues, rising, and eigenvectors in the place of `matrix`, (n, n), lower triangle.
std::vector<double> solve_eigen(int n, std::vector<double>* matrix) {
  std::vector<double> values(static_cast<size_t>(n));
  int info = 0;
  double work_size = 0;
  int integers_size = 0;
  const int ask = -1;
  dsyevd_("V", "L", &n, matrix->data(), &n, values.data(), &work_size, &ask, &integers_size, &ask,
          &info);
  require(info == 0 && work_size < 2147483647.0, StatusCode::internal,
          "LAPACK's dsyevd: status {} for {} dimensions", info, n);
  const int size = static_cast<int>(work_size);
  std::vector<double> work(static_cast<size_t>(size));
  std::vector<int> integers(static_cast<size_t>(integers_size));
  dsyevd_("V", "L", &n, matrix->data(), &n, values.data(), work.data(), &size, integers.data(),
          &integers_size, &info);
  require(info == 0, StatusCode::internal, "LAPACK's dsyevd: status {} for {} dimensions", info, n);
  return values;
}

/// An eigenvector's sign is free.
void fix_sign(double* axis, int dim) {
  const double* largest = std::max_element(
      axis, axis + dim, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  if (*largest >= 0) return;
  for (int j = 0; j < dim; ++j) axis[j] = -axis[j];
}

}  // namespace

SecondMoments::SecondMoments(int dim)
    : dim_(dim),
      block_(checked_mul(kBlockRows, dim, "block")),
      sums_(checked_mul(dim, dim, "second moments")) {}

void SecondMoments::add(const float* x) {
  std::copy_n(x, dim_, &block_[static_cast<size_t>(in_block_) * static_cast<size_t>(dim_)]);
  ++count_;
  if (++in_block_ == kBlockRows) add_block();
}

void SecondMoments::add_block() {
  const double one = 1;
  dsyrk_("L", "N", &dim_, &in_block_, &one, block_.data(), &dim_, &one, sums_.data(), &dim_);
  in_block_ = 0;
}

SecondMoments::Axes SecondMoments::axes() {
  if (in_block_ > 0) add_block();
  for (double& sum : sums_) sum /= static_cast<double>(count_);
  Axes axes;
  axes.variances = solve_eigen(dim_, &sums_);
  axes.rows = std::move(sums_);
  // Fortran's columns are rows here; its variances rise, and ours must fall.
  const auto dim = static_cast<size_t>(dim_);
  std::reverse(axes.variances.begin(), axes.variances.end());
  for (size_t low = 0, high = dim - 1; low < high; ++low, --high)
    std::swap_ranges(&axes.rows[low * dim], &axes.rows[low * dim] + dim, &axes.rows[high * dim]);
  for (size_t i = 0; i < dim; ++i) fix_sign(&axes.rows[i * dim], dim_);
  for (double& variance : axes.variances) variance = std::max(variance, 0.0);
  return axes;
}

}  // namespace polarquant
