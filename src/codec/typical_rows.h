// SPDX-License-Identifier: MIT
// The rows that a codec learns from: those that are not far beyond the others. One row of length
// 10⁵ among thousands pulls a mean as far as it likes, and every other row is then coded about a
// point that is far from all.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "src/codec/codec_kernels.h"

namespace polarquant {

/// Some of n rows.
class TypicalRows {
 public:
  TypicalRows() = default;
  /// Tells by each row's squared distance from a point: typical are rows up to eight times as far
  /// as nine rows of ten are at most. All are, where these nine have no distance.
  explicit TypicalRows(const std::vector<double>& distances2);

  bool all() const { return left_out_.empty(); }
  bool has(int64_t row) const { return all() || !left_out_[static_cast<size_t>(row)]; }
  /// Typical rows of n.
  int64_t count(int64_t n) const;
  bool operator==(const TypicalRows&) const = default;

 private:
  std::vector<bool> left_out_;  // empty: none
};

/// A row, (dim), read before the next is asked for.
using RowReader = std::function<const float*(int64_t row)>;

/// The mean of the rows that are typical about it, found from the median of each coordinate on.
/// Where all rows are typical it is their sum, in order, divided by n. Zeros, where the mean would
/// be further from the middle one of n ≥ 1 rows than the origin is.
std::vector<float> typical_mean(int64_t n, int dim, const RowReader& row_of,
                                const CodecKernels& kernels);

}  // namespace polarquant
