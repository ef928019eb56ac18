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

void refine_rows(const ::faiss::IndexRefine& index, const SearchRequest& request,
                 const SearchResult& result, const FindCandidates& find) {
  const idx_t n = request.nq;
  const idx_t k = request.goal.k;
  const double k_factor = request.options.k_factor;
  const idx_t k_base = refined_rows(k, k_factor != 0 ? k_factor : index.k_factor, index.ntotal);
  const size_t results = checked_mul(n, k_base, "n x k x k_factor results");
  std::vector<float> base_distances(results);
  std::vector<idx_t> base_labels(results);
  SearchRequest base_request = request;
  base_request.goal.k = k_base;
  find(base_request, {base_distances.data(), base_labels.data()});

  const bool higher_is_nearer = index.metric_type == ::faiss::METRIC_INNER_PRODUCT;
  const int threads = thread_count(0, n);
  std::vector<std::unique_ptr<::faiss::DistanceComputer>> computers(static_cast<size_t>(threads));
  parallel_for(n, threads, [&](int64_t query, int thread) {
    auto& computer = computers[static_cast<size_t>(thread)];
    if (computer == nullptr) computer.reset(index.refine_index->get_distance_computer());
    computer->set_query(request.queries + query * index.d);
    std::vector<Neighbor> candidates;
    for (idx_t i = query * k_base; i < (query + 1) * k_base; ++i) {
      const idx_t id = base_labels[static_cast<size_t>(i)];
      if (id >= 0) candidates.push_back({key_of_score((*computer)(id), higher_is_nearer), id});
    }
    write_top_k(candidates, k, higher_is_nearer, result.scores + query * k, result.ids + query * k);
  });
}

}  // namespace polarquant
