// SPDX-License-Identifier: MIT
#include "src/codec/principal_axes.h"

#include <algorithm>
#include <cmath>

#include "src/codec/symmetric_eigen.h"
#include "src/core/checked_size.h"

namespace polarquant {
namespace {

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
  add_second_moments(dim_, in_block_, block_.data(), sums_.data());
  in_block_ = 0;
}

SecondMoments::Axes SecondMoments::axes() {
  if (in_block_ > 0) add_block();
  for (double& sum : sums_) sum /= static_cast<double>(count_);
  Axes axes;
  axes.variances = solve_symmetric_eigen(dim_, &sums_);
  axes.rows = std::move(sums_);
  // The variances rise, and must fall.
  const auto dim = static_cast<size_t>(dim_);
  std::reverse(axes.variances.begin(), axes.variances.end());
  for (size_t low = 0, high = dim - 1; low < high; ++low, --high)
    std::swap_ranges(&axes.rows[low * dim], &axes.rows[low * dim] + dim, &axes.rows[high * dim]);
  for (size_t i = 0; i < dim; ++i) fix_sign(&axes.rows[i * dim], dim_);
  for (double& variance : axes.variances) variance = std::max(variance, 0.0);
  return axes;
}

}  // namespace polarquant
