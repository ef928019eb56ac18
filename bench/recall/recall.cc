// SPDX-License-Identifier: MIT
#include "bench/recall/recall.h"

#include "src/advice/recall.h"
#include "src/core/status.h"

namespace polarquant::bench {

Recall count_recall(std::span<const int64_t> result, const IdMatrix& truth, int64_t k,
                    const PairCost& cost) {
  require(k >= 1 && k <= truth.k, StatusCode::bad_argument, "k is {} (allowed: 1 to {})", k,
          truth.k);
  require(truth.rows >= 1 && result.size() == static_cast<size_t>(truth.rows * k),
          StatusCode::bad_argument, "the result has {} ids (allowed: {} queries x {})",
          result.size(), truth.rows, k);
  int64_t firsts = 0;
  int64_t found = 0;
  for (int64_t q = 0; q < truth.rows; ++q) {
    const std::span<const int64_t> ids =
        result.subspan(static_cast<size_t>(q * k), static_cast<size_t>(k));
    const RowCost row_cost = cost ? [&](int64_t row) { return cost(q, row); } : RowCost();
    firsts += neighbours_found(ids.first(1), {truth.row(q), 1}, row_cost);
    found += neighbours_found(ids, {truth.row(q), static_cast<size_t>(k)}, row_cost);
  }
  const auto queries = static_cast<double>(truth.rows);
  return {static_cast<double>(firsts) / queries,
          static_cast<double>(found) / (queries * static_cast<double>(k))};
}

}  // namespace polarquant::bench
