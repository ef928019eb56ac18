// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/capi/argument_checks.h"
#include "src/codec/codec.h"
#include "src/core/row_length.h"

namespace polarquant::capi {

/// Rows or queries as the FAISS index gets them: for cosine, copies of length 1 (0 stays 0); else
/// themselves. Constructors check them, in one pass: an array, finite, and where they are taken as
/// they are no longer than row_length.h allows.
class MetricInput {
 public:
  /// x, (n, dim), which the caller knows as `name`.
  MetricInput(Metric metric, int64_t dim, int64_t n, const float* x, const char* name = "x")
      : MetricInput(metric, dim, n, x, name, require_row_lengths) {}

  /// Rows of a training, which are limited together too.
  static MetricInput for_training(Metric metric, int64_t dim, int64_t n, const float* x) {
    return MetricInput(metric, dim, n, x, "x", require_training_lengths);
  }

  const float* data() const { return x_; }

 private:
  using Check = void(const char* name, int64_t n, int64_t dim, const float* x);

  MetricInput(Metric metric, int64_t dim, int64_t n, const float* x, const char* name,
              Check* require_lengths)
      : x_(x) {
    require_array(name, x, n, dim, sizeof(float));
    if (metric != Metric::cosine) {
      require_lengths(name, n, dim, x);
      return;
    }
    if (n == 0) return;
    copies_.resize(static_cast<size_t>(n * dim));
    for (int64_t row = 0; row < n; ++row) {
      const float* from = x + row * dim;
      double sum = 0;
      for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(from[i]) * from[i];
      // Squares of floats are far from a double's end.
      if (!std::isfinite(sum)) require_finite(name, x, n, dim);
      const double factor = sum > 0 ? 1 / std::sqrt(sum) : 0;
      for (int64_t i = 0; i < dim; ++i) {
        copies_[static_cast<size_t>(row * dim + i)] = static_cast<float>(from[i] * factor);
      }
    }
    x_ = copies_.data();
  }

  const float* x_;
  std::vector<float> copies_;
};

}  // namespace polarquant::capi
