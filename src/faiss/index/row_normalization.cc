// SPDX-License-Identifier: MIT
#include "src/faiss/index/row_normalization.h"

#include <algorithm>
#include <cmath>

#include "src/core/parallel.h"

namespace polarquant {
namespace {

constexpr int64_t kRowsPerTask = 256;

/// As FAISS 1.7 adds where it is built for any x86-64, in Debian's packages: codes that were made
/// there are made again to the byte.
float squared_length(const float* x, int dim) {
  double sum = 0;
  for (int j = 0; j < dim; ++j) sum += x[j] * x[j];
  return static_cast<float>(sum);
}

}  // namespace

void RowNormalization::apply_noalloc(idx_t n, const float* x, float* xt) const {
  const int64_t tasks = (n + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for(tasks, thread_count(0, tasks), [&](int64_t task, int) {
    for (idx_t row = task * kRowsPerTask; row < std::min(n, (task + 1) * kRowsPerTask); ++row) {
      const float* from = x + row * d_in;
      float* to = xt + row * d_in;
      const float length2 = squared_length(from, d_in);
      // A row of NaN too stays as it is.
      const float factor = length2 > 0 ? 1.0F / std::sqrt(length2) : 1.0F;
      for (int j = 0; j < d_in; ++j) to[j] = from[j] * factor;
    }
  });
}

std::unique_ptr<::faiss::VectorTransform> with_own_normalization(
    std::unique_ptr<::faiss::VectorTransform> transform) {
  const auto* built = dynamic_cast<const ::faiss::NormalizationTransform*>(transform.get());
  if (built == nullptr || built->norm != 2) return transform;
  return std::make_unique<RowNormalization>(built->d_in, built->norm);
}

}  // namespace polarquant
