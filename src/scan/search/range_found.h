// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant {

/// What a range search found: rows lims[q] … lims[q+1]−1 are those of query q, best first, ties by
/// lower id.
struct RangeFound {
  std::vector<int64_t> lims;  // (nq + 1), from 0
  std::vector<float> scores;  // (lims[nq])
  std::vector<int64_t> ids;   // (lims[nq]): row positions
};

}  // namespace polarquant
