// SPDX-License-Identifier: MIT
// Searches of copies of the rows that a filter keeps, where these are few and many searches have
// the filter: rows side by side take less time than the same rows among others.
#pragma once

#include <cstdint>

#include "src/scan/search/search_request.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {

/// Searches copies, in blocks, of the rows of the store that the request's filter keeps, and makes
/// them at the ninth query. False, and nothing is searched, where the filter was not asked about
/// all rows before (KeptRows), keeps more than `most` of them, or has had few queries so far, and
/// for rows that do not go into blocks.
bool search_kept_copies(const RowStore& store, const Codec& codec, const SearchRequest& request,
                        int64_t most, const SearchResult& result);

}  // namespace polarquant
