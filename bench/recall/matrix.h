// SPDX-License-Identifier: MIT
// What the benchmark holds in memory: float vectors and neighbour ids, row after row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace polarquant::bench {

/// Vectors (rows, dim), row-major. Sizes are 64 bits: rows·dim may pass 2^32.
struct FloatMatrix {
  int64_t rows = 0;
  int64_t dim = 0;
  std::vector<float> values;
  /// Rows the source holds; more than `rows` when a limit cut the reading short.
  int64_t rows_in_source = 0;

  const float* row(int64_t r) const { return values.data() + static_cast<size_t>(r * dim); }
  float* row(int64_t r) { return values.data() + static_cast<size_t>(r * dim); }
};

/// Ids (rows, k), row-major, best neighbour first.
struct IdMatrix {
  int64_t rows = 0;
  int64_t k = 0;
  std::vector<int64_t> values;
  int64_t rows_in_source = 0;

  const int64_t* row(int64_t r) const { return values.data() + static_cast<size_t>(r * k); }
  int64_t* row(int64_t r) { return values.data() + static_cast<size_t>(r * k); }
};

/// Told how many of how many units of a long job are done; may be empty.
using OnProgress = std::function<void(int64_t done, int64_t total)>;

/// Reads every row the source has.
inline constexpr int64_t kAllRows = -1;

}  // namespace polarquant::bench
