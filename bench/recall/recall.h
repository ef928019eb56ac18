// SPDX-License-Identifier: MIT
// Recall of a search result against exact neighbours, by ids.
#pragma once

#include <cstdint>
#include <span>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

struct Recall {
  double at_1 = 0;  ///< share of queries whose first result is the first true neighbour
  double at_k = 0;  ///< mean over queries of |result's k ids ∩ first k true ids| / k
};

/// result: (truth.rows, k) ids, −1 where there is none; truth.k ≥ k. An id found twice counts once.
Recall count_recall(std::span<const int64_t> result, const IdMatrix& truth, int64_t k);

}  // namespace polarquant::bench
