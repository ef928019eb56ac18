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
/// Scores the request's goal.k rows of each query, −1 for none: (nq, goal.k).
using ScoreCandidates = std::function<void(const SearchRequest&, const idx_t* rows, float* scores)>;

/// How many rows of a query the first step finds, for the k best of `rows`.
idx_t refined_rows(idx_t k, double k_factor, idx_t rows);

struct Refinement {
  idx_t rows;  // of the index
  double k_factor;
  bool higher_is_nearer;
};
/// The k best, by `score`, of the k·k_factor that `find` finds; the refinement's own k_factor
/// unless the request has one. Ties: lower id first.
void refine_rows(const Refinement& refinement, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find,
                 const ScoreCandidates& score);
/// The same by the refining index.
void refine_rows(const ::faiss::IndexRefine& index, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find);
Refinement refinement_of(const ::faiss::IndexRefine& index);
/// ScoreCandidates by an index.
void score_candidates(const ::faiss::Index& index, const SearchRequest& request, const idx_t* rows,
                      float* scores);

}  // namespace polarquant
