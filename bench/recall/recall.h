// SPDX-License-Identifier: MIT
// Recall of a search result against exact neighbours. Rows as near as the k-th count as found.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

struct Recall {
  double at_1 = 0;  ///< share of queries whose first result is the first true neighbour, or as near
  double at_k = 0;  ///< mean over queries of the share of the first k true neighbours found
};

/// What a row of the base is away from a query; less is nearer.
using PairCost = std::function<double(int64_t query, int64_t row)>;

/// result: (truth.rows, k) ids, −1 where there is none; truth.k ≥ k. An id found twice counts once.
/// Without `cost` ids alone count.
Recall count_recall(std::span<const int64_t> result, const IdMatrix& truth, int64_t k,
                    const PairCost& cost = {});

}  // namespace polarquant::bench
