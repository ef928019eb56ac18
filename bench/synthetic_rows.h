// SPDX-License-Identifier: MIT
// Rows that resemble text embeddings, as many as are wanted: the mixture of
// bench/peers/clustered_gaussians.py without its rotation, which our codes make themselves. Normal
// numbers are sums of eight random bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant::bench {

enum class SyntheticKind {
  clustered,  // squared_norm that falls with the coordinate, clusters of about 200 rows, a mean
  gaussian,   // independent coordinates: no row is near a query, the worst there is for bounds
};

class SyntheticRows {
 public:
  SyntheticRows(SyntheticKind kind, int64_t rows, int dim, uint64_t seed);

  /// Rows first … first+count−1, (count, dim), of length 1; on all threads. The same for equal
  /// arguments.
  void fill(int64_t first, int64_t count, float* x) const;

 private:
  SyntheticKind kind_;
  int dim_;
  uint64_t seed_;
  int64_t clusters_;
  std::vector<float> scale_;
  std::vector<float> mean_;
};

}  // namespace polarquant::bench
