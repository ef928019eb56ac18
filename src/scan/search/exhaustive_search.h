// SPDX-License-Identifier: MIT
// Searches of every row of a code buffer: of any codec, and exact.
#pragma once

#include "src/codec/codec.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Searches the rows of `codes`; ids are row positions. Scores are to the bit those of
/// Codec::score, and every search is exact, whatever the exactness asked for. The result does not
/// depend on threads. Throws as block_search.
void exhaustive_search(const Codec& codec, CodeRows codes, const SearchRequest& request,
                       const SearchResult& result);

}  // namespace polarquant
