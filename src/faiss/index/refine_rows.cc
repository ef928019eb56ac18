// SPDX-License-Identifier: MIT
#include "src/faiss/index/refine_rows.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

idx_t refined_rows(idx_t k, double k_factor, idx_t rows) {
  const double wanted = static_cast<double>(k) * k_factor;
  const idx_t most = std::max(k, rows);
  return wanted < static_cast<double>(most) ? static_cast<idx_t>(wanted) : most;
}

void refine_rows(const Refinement& refinement, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find,
                 const ScoreCandidates& score) {
  const idx_t n = request.nq;
  const idx_t k = request.goal.k;
  const double k_factor = request.options.k_factor;
  const idx_t k_base =
      refined_rows(k, k_factor != 0 ? k_factor : refinement.k_factor, refinement.rows);
  const size_t results = checked_mul(n, k_base, "n x k x k_factor results");
  std::vector<float> scores(results);
  std::vector<idx_t> rows(results);
  SearchRequest base_request = request;
  base_request.goal.k = k_base;
  find(base_request, {scores.data(), rows.data()});
  score(base_request, rows.data(), scores.data());
  parallel_for(n, thread_count(0, n), [&](int64_t query, int /*thread*/) {
    std::vector<Neighbor> candidates;
    for (auto i = static_cast<size_t>(query * k_base);
         i < static_cast<size_t>((query + 1) * k_base); ++i) {
      if (rows[i] >= 0)
        candidates.push_back({key_of_score(scores[i], refinement.higher_is_nearer), rows[i]});
    }
    write_top_k(candidates, k, refinement.higher_is_nearer, result.scores + query * k,
                result.ids + query * k);
  });
}

Refinement refinement_of(const ::faiss::IndexRefine& index) {
  return {index.ntotal, index.k_factor, index.metric_type == ::faiss::METRIC_INNER_PRODUCT};
}

void refine_rows(const ::faiss::IndexRefine& index, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find) {
  refine_rows(refinement_of(index), request, result, find,
              [&index](const SearchRequest& found, const idx_t* rows, float* scores) {
                score_candidates(*index.refine_index, found, rows, scores);
              });
}

void score_candidates(const ::faiss::Index& index, const SearchRequest& request, const idx_t* rows,
                      float* scores) {
  const idx_t k = request.goal.k;
  const int threads = thread_count(0, request.nq);
  std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
  parallel_for(request.nq, threads, [&](int64_t query, int thread) {
    auto& computer = computers[static_cast<size_t>(thread)];
    if (computer == nullptr) computer.reset(index.get_distance_computer());
    computer->set_query(request.queries + query * index.d);
    for (idx_t i = query * k; i < (query + 1) * k; ++i)
      if (rows[i] >= 0) scores[i] = (*computer)(rows[i]);
  });
}

}  // namespace polarquant
