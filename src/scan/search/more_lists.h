// SPDX-License-Identifier: MIT
// Searches of an inverted file with a filter: of the rows that it keeps the lists that are searched
// may have fewer than k, where all lists have more. Such a search goes on in more lists, so that it
// returns k rows wherever the filter keeps k.
#pragma once

#include <cstdint>
#include <functional>

#include "src/scan/search/search_request.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Searches so many lists as the request's options say, and writes the k best to the result.
using SearchLists = std::function<void(const SearchRequest&, const SearchResult&)>;

/// search(request, result); then, where the filter left places empty, searches of these queries
/// over four times as many lists, and so on to all nlist. request.options.nprobe: 1 to nlist.
void search_until_filled(const SearchRequest& request, int dim, int64_t nlist,
                         const SearchResult& result, const SearchLists& search);

}  // namespace polarquant
