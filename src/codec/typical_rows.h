// SPDX-License-Identifier: MIT
// What a codec learns from: rows that are not far beyond the others. A mean follows one row of
// length 10⁵ among thousands as far as it likes, and every other row is then coded about a point
// that is far from all.
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
  /// By each row's squared distance from somewhere: those up to eight times as far as nine rows of
  /// ten are at the most. All, where these nine have no distance.
  explicit TypicalRows(const std::vector<double>& distances2);

  bool all() const { return left_out_.empty(); }
  bool has(int64_t row) const { return all() || !left_out_[static_cast<size_t>(row)]; }
  /// Of n.
  int64_t count(int64_t n) const;
  bool operator==(const TypicalRows&) const = default;

 private:
  std::vector<bool> left_out_;  // empty: none
};

/// A row, (dim), read before the next is asked for.
using RowReader = std::function<const float*(int64_t row)>;

/// The mean of the rows that are typical about it, found from the median of each coordinate on.
/// Where all are, their sums in their order divided by n. Zeros, where it would be further from the
/// middle one of n ≥ 1 rows than the origin is.
std::vector<float> typical_mean(int64_t n, int dim, const RowReader& row_of,
                                const CodecKernels& kernels);

}  // namespace polarquant
