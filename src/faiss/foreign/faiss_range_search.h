// SPDX-License-Identifier: MIT
// Range searches of FAISS's own indexes, in parts that there is memory for (memory_check.h): some
// queries at a time, and in flat indexes some rows, which changes no bit of what is found.
#pragma once

#include <faiss/IndexIVF.h>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// What index.range_search finds for the queries and radii of a request, in an inverted file with
/// params, which may be null.
void search_range_in_parts(const ::faiss::Index& index, const SearchRequest& request,
                           const ::faiss::SearchParametersIVF* params, RangeFound* found);

}  // namespace polarquant
