// SPDX-License-Identifier: MIT
// The second step of a refinement: the rows that the first found, scored again.
#pragma once

#include <faiss/IndexRefine.h>

#include <functional>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// Searches for the candidates of each query.
using FindCandidates = std::function<void(const SearchRequest&, const SearchResult&)>;

/// How many rows of a query the first step finds, for the k best of `rows`.
idx_t refined_rows(idx_t k, double k_factor, idx_t rows);

/// The k best, by the refining index, of the k·k_factor that `find` finds; the index's own k_factor
/// unless the request has one. Ties: lower id first.
void refine_rows(const ::faiss::IndexRefine& index, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find);

}  // namespace polarquant
