// SPDX-License-Identifier: MIT
// What a search of any index would do, in words.
#pragma once

#include <string>

#include "src/faiss/index/index_search.h"

namespace polarquant {

/// For search_index with this request, whose queries are not read; nothing is searched. Lines of
/// UTF-8, for people. Throws as search_index for options that the index has no use for.
std::string explain_search(const ::faiss::Index& index, const SearchRequest& search);

}  // namespace polarquant
