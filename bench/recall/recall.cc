// SPDX-License-Identifier: MIT
#include "bench/recall/recall.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/core/status.h"

namespace polarquant::bench {

Recall count_recall(std::span<const int64_t> result, const IdMatrix& truth, int64_t k) {
  require(k >= 1 && k <= truth.k, StatusCode::bad_argument, "k is {} (allowed: 1 to {})", k,
          truth.k);
  require(truth.rows >= 1 && result.size() == static_cast<size_t>(truth.rows * k),
          StatusCode::bad_argument, "the result has {} ids (allowed: {} queries x {})",
          result.size(), truth.rows, k);
  int64_t firsts = 0;
  int64_t found = 0;
  std::vector<int64_t> got;
  std::vector<int64_t> wanted;
  std::vector<int64_t> both;
  for (int64_t q = 0; q < truth.rows; ++q) {
    const std::span<const int64_t> ids =
        result.subspan(static_cast<size_t>(q * k), static_cast<size_t>(k));
    firsts += ids[0] == truth.row(q)[0] ? 1 : 0;
    got.assign(ids.begin(), ids.end());
    std::sort(got.begin(), got.end());
    got.erase(std::unique(got.begin(), got.end()), got.end());
    wanted.assign(truth.row(q), truth.row(q) + k);
    std::sort(wanted.begin(), wanted.end());
    both.clear();
    std::set_intersection(got.begin(), got.end(), wanted.begin(), wanted.end(),
                          std::back_inserter(both));
    found += static_cast<int64_t>(both.size());
  }
  const auto queries = static_cast<double>(truth.rows);
  return {static_cast<double>(firsts) / queries,
          static_cast<double>(found) / (queries * static_cast<double>(k))};
}

}  // namespace polarquant::bench
