// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace polarquant::bench {

/// Results of nq queries, (nq, k).
struct FoundRows {
  std::vector<float> scores;
  std::vector<int64_t> ids;

  FoundRows(int64_t nq, int64_t k)
      : scores(static_cast<size_t>(nq * k)), ids(static_cast<size_t>(nq * k)) {}
  bool operator==(const FoundRows& other) const {
    return scores == other.scores && ids == other.ids;
  }
};

/// Share of the rows in `found` that are in `expected`, query by query.
inline double share_found(const FoundRows& expected, const FoundRows& found, int64_t k) {
  int64_t common = 0;
  const auto count = static_cast<size_t>(k);
  for (size_t first = 0; first < expected.ids.size(); first += count) {
    const auto begin = expected.ids.begin() + static_cast<int64_t>(first);
    const std::set<int64_t> wanted(begin, begin + k);
    for (size_t i = 0; i < count; ++i) common += wanted.count(found.ids[first + i]) != 0 ? 1 : 0;
  }
  return static_cast<double>(common) / static_cast<double>(expected.ids.size());
}

}  // namespace polarquant::bench
