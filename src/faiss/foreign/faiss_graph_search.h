// SPDX-License-Identifier: MIT
// Searches of FAISS's graphs over rows of FAISS's, with what its own searches do not take or, by
// release, do not heed: the number of nodes kept (1.7.3 reads it from the index and not from a
// search's parameters), a selector, progress.
#pragma once

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/graph_search.h"

namespace polarquant {

/// As search_graph, over rows that `storage`'s distance computer compares.
void search_faiss_graph(const GraphLinks& graph, const ::faiss::Index& storage,
                        const SearchRequest& request, const SearchResult& result);

}  // namespace polarquant
