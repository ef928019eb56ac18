// SPDX-License-Identifier: MIT
// polar_search_options on their way into a search.
#pragma once

#include "polarquant/polarquant.h"
#include "src/core/turn_lock.h"
#include "src/scan/search/search_request.h"

namespace polarquant::capi {

/// Rows that have a handle.
struct SearchedRows {
  uint64_t state = kUnknownRows;
  const TurnLock* use = nullptr;  // callbacks are inside a call on it
};

/// A search of nq queries, (nq, dim), as the caller's options want it, checked; NULL gives the
/// defaults. Borrows what they point to.
SearchRequest read_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options* options, const SearchedRows& rows = {});

/// The bitset that their filter is; no words for another filter, or none.
polar_bitset read_bitset(const polar_search_options* options);

}  // namespace polarquant::capi
