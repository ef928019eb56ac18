// SPDX-License-Identifier: MIT
// polar_search_options on their way into a search.
#pragma once

#include "polarquant/polarquant.h"
#include "src/scan/search/search_request.h"

namespace polarquant::capi {

/// The caller's options checked and merged with the defaults; NULL gives the defaults.
polar_search_options read_search_options(const polar_search_options* given);

/// The filter that checked options describe, over ids. Borrows what they point to.
RowFilter make_row_filter(const polar_search_options& options);
/// A search of nq queries, (nq, dim), as checked options want it; num_threads 0 becomes
/// `default_threads`. Borrows what they point to.
SearchRequest make_request(int64_t nq, const float* queries, const SearchGoal& goal,
                           const polar_search_options& options, int default_threads);

}  // namespace polarquant::capi
