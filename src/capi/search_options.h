// SPDX-License-Identifier: MIT
// polar_search_options on their way into a search.
#pragma once

#include "polarquant/polarquant.h"
#include "src/scan/search/search_request.h"

namespace polarquant::capi {

/// A search of nq queries, (nq, dim), as the caller's options want it, checked; NULL gives the
/// defaults. Borrows what they point to. `rows_state`: of the rows that are searched, where they
/// have a handle.
SearchRequest read_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options* options, uint64_t rows_state = kUnknownRows);

}  // namespace polarquant::capi
