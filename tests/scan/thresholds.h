// SPDX-License-Identifier: MIT
// Thresholds that tests of stages ask for.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace polarquant::test {

/// Thresholds worth asking for: those of some rows, to the bit, and the ends.
inline std::vector<float> thresholds_among(std::vector<float> bounds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  bounds.erase(std::remove_if(bounds.begin(), bounds.end(), [](float b) { return std::isnan(b); }),
               bounds.end());
  std::sort(bounds.begin(), bounds.end());
  const size_t n = bounds.size();
  const float range = bounds.back() - bounds.front() + 1;
  return {-kInfinity,    bounds.front() - range, bounds[0], bounds[n / 2], bounds[n * 9 / 10],
          bounds[n - 1], bounds.back() + range};
}

}  // namespace polarquant::test
