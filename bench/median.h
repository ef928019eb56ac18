// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

namespace polarquant::bench {

/// The middle value, or the mean of the middle two; values not empty.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace polarquant::bench
