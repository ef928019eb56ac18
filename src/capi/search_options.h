// SPDX-License-Identifier: MIT
// polar_search_options and polar_filter on their way into a search.
#pragma once

#include "polarquant/polarquant.h"
#include "src/scan/search/search_request.h"

namespace polarquant::capi {

/// The caller's filter, checked, over ids; NULL keeps every one. Borrows what it points to.
RowFilter read_filter(const polar_filter* given);
/// A search of nq queries, (nq, dim), as the caller's options want it, checked; NULL gives the
/// defaults. Borrows what they point to.
SearchRequest read_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options* options);

}  // namespace polarquant::capi
