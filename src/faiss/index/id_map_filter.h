// SPDX-License-Identifier: MIT
// A search's filter inside a map of ids.
#pragma once

#include <faiss/IndexIDMap.h>

#include "src/scan/search/search_request.h"

namespace polarquant {

/// The request's filter, over ids, as one over the rows inside the map. Borrows the map.
RowFilter filter_inside(const ::faiss::IndexIDMap& map, const SearchRequest& request);

}  // namespace polarquant
