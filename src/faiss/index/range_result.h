// SPDX-License-Identifier: MIT
// FAISS's object for the results of a range search, filled from ours.
#pragma once

#include <faiss/impl/AuxIndexStructures.h>

#include <algorithm>

#include "src/core/status.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

inline void require_range_result(idx_t n, const ::faiss::RangeSearchResult* result) {
  require(result != nullptr && result->nq == static_cast<size_t>(n), StatusCode::bad_argument,
          "range_search: result is {}; one made for n = {} queries is needed",
          result == nullptr ? "null" : "for another number of queries", n);
}

inline void write_range_result(const RangeFound& found, ::faiss::RangeSearchResult* result) {
  // do_allocation makes limits of counts.
  for (size_t q = 0; q < result->nq; ++q)
    result->lims[q] = static_cast<size_t>(found.lims[q + 1] - found.lims[q]);
  result->do_allocation();
  std::copy(found.scores.begin(), found.scores.end(), result->distances);
  std::copy(found.ids.begin(), found.ids.end(), result->labels);
}

}  // namespace polarquant
