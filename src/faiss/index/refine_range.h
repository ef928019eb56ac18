// SPDX-License-Identifier: MIT
// Searches of a refinement within a radius: which rows are within it, the refining codes say; which
// are scored by these, the index that finds rows.
//
// That one finds by its own scores, which are off. How far, its candidates tell, of which both
// scores are known: the radius is wider for it by `exactness` root mean squares of what they
// differ.
#pragma once

#include <faiss/IndexRefine.h>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/refine_rows.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Of the 64 nearest rows of each query by the finding index, of a graph the ef_search nearest if
/// these are more, and all within the wider radius, those whose score by the refining index is
/// within the radius of the request. At exactness +inf every row that the finding index reaches is
/// scored. `find`: searches of the finding index, for the k best and within radii of the queries.
void refine_range(const ::faiss::IndexRefine& index, const SearchRequest& request,
                  RangeFound* found, const FindCandidates& find);

}  // namespace polarquant
