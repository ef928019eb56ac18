// SPDX-License-Identifier: MIT
// Searches of an index that is a part of a larger one (src/scan/search/partial_result.h).
#pragma once

#include <faiss/Index.h>

#include <cstdint>

#include "src/scan/search/search_request.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Where a part stands in the whole.
struct PartPlace {
  int64_t first_row = 0;           // rows of the parts before
  bool ids_are_positions = false;  // in the whole; those of callers are the same everywhere
};

/// The best rows of the part; request.goal is k best, and its filter is over the whole's ids.
/// Throws unsupported for kinds that are not searched in parts.
PartialResult search_part(const ::faiss::Index& index, const SearchRequest& request,
                          const PartPlace& place);

}  // namespace polarquant
