// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/row_length.h"

namespace polarquant::capi {

/// Rows or queries as the FAISS index gets them: for cosine, copies of length 1 (0 stays 0); else
/// themselves, which are refused where they are too long (row_length.h).
class MetricInput {
 public:
  /// x, finite, as the caller knows it by name.
  MetricInput(Metric metric, int64_t dim, int64_t n, const float* x, const char* name = "x")
      : x_(x) {
    if (metric != Metric::cosine) {
      require_row_lengths(name, n, dim, x);
      return;
    }
    if (n == 0) return;
    copies_.resize(static_cast<size_t>(n * dim));
    for (int64_t row = 0; row < n; ++row) {
      const float* from = x + row * dim;
      double sum = 0;
      for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(from[i]) * from[i];
      const double factor = sum > 0 ? 1 / std::sqrt(sum) : 0;
      for (int64_t i = 0; i < dim; ++i) {
        copies_[static_cast<size_t>(row * dim + i)] = static_cast<float>(from[i] * factor);
      }
    }
    x_ = copies_.data();
  }
  const float* data() const { return x_; }

 private:
  const float* x_;
  std::vector<float> copies_;
};

}  // namespace polarquant::capi
