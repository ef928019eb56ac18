// SPDX-License-Identifier: MIT
// Searches of rows in the row format, as their owner holds them: by int8 values where the codec has
// them (block_search.h), else by decoding each row (exhaustive_search.h).
#pragma once

#include "src/codec/codec.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// As block_search.
void row_search(const Codec& codec, CodeRows codes, const SearchRequest& request,
                const SearchResult& result);

}  // namespace polarquant
