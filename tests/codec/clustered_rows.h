// SPDX-License-Identifier: MIT
// Seeded rows with a long mean and clusters, as embeddings have them, for the tests of the codec.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "src/core/random.h"

namespace polarquant::test {

/// n rows around `clusters` centres that lie `mean_length` from the origin.
inline std::vector<float> clustered_rows(int64_t n, int dim, double mean_length, uint64_t seed) {
  constexpr int kClusters = 20;
  Random centre_random(1234);
  std::vector<double> centres(static_cast<size_t>(kClusters) * dim);
  for (double& value : centres) value = 0.7 * centre_random.normal();
  std::vector<double> mean(dim);
  double norm2 = 0;
  for (double& value : mean) norm2 += (value = centre_random.normal(), value * value);
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n) * dim);
  for (int64_t row = 0; row < n; ++row) {
    const size_t cluster = random.below(kClusters);
    for (int j = 0; j < dim; ++j) {
      const double offset = norm2 > 0 ? mean[j] * mean_length / std::sqrt(norm2) : 0;
      rows[static_cast<size_t>(row) * dim + j] =
          static_cast<float>(offset + centres[cluster * dim + j] + random.normal());
    }
  }
  return rows;
}

}  // namespace polarquant::test
