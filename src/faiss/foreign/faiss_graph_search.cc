// SPDX-License-Identifier: MIT
#include "src/faiss/foreign/faiss_graph_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "src/core/parallel.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/graph_filter.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// One thread's searches.
class FaissGraphSearch {
 public:
  FaissGraphSearch(const GraphLinks& graph, const ::faiss::Index& storage, idx_t k,
                   const GraphFilter& filter)
      : graph_(graph),
        filter_(filter),
        k_(k),
        nodes_(storage.ntotal),
        higher_is_nearer_(storage.metric_type == ::faiss::METRIC_INNER_PRODUCT),
        computer_(storage.get_distance_computer()) {}

  void search(const float* query, float* distances, idx_t* labels) {
    computer_->set_query(query);
    kept_ = TopK(k_);
    if (filter_.walks()) {
      Neighbor nearest = scored(graph_.entry_point);
      for (int level = graph_.max_level; level > 0; --level) nearest = descend(nearest, level);
      search_level_0(nearest);
    }
    if (filter_.gathers_after(kept_.neighbors().size())) {
      kept_ = TopK(k_);
      filter_.for_each([&](std::span<const int32_t> nodes) {
        for (const int32_t node : nodes) keep(scored(node));
      });
    }
    std::vector<Neighbor> found;
    if (!filter_.keeps_all()) {
      found = kept_.neighbors();
    } else {
      const size_t count = std::min(beam_.size(), static_cast<size_t>(k_));
      for (size_t i = 0; i < count; ++i) found.push_back({beam_.key(i), beam_.id(i)});
    }
    write_top_k(found, k_, higher_is_nearer_, distances, labels);
  }

 private:
  Neighbor scored(int32_t node) {
    return {key_of_score((*computer_)(node), higher_is_nearer_), node};
  }

  Neighbor descend(Neighbor nearest, int level) {
    while (true) {
      const int64_t before = nearest.id;
      for (const int32_t neighbour : graph_.neighbours(static_cast<int32_t>(before), level)) {
        if (neighbour < 0) break;
        const Neighbor candidate = scored(neighbour);
        if (candidate.key < nearest.key) nearest = candidate;
      }
      if (nearest.id == before) return nearest;
    }
  }

  void search_level_0(const Neighbor& start) {
    seen_.begin(nodes_);
    beam_.begin(filter_.ef());
    seen_.add(static_cast<int32_t>(start.id));
    take(start);
    int64_t left =
        graph_.stops_by_distance ? std::numeric_limits<int64_t>::max() : filter_.ef() + 1;
    for (; left > 0 && beam_.has_next(); --left) {
      fresh_.clear();
      seen_.add_new(graph_.neighbours(beam_.expand_next(), 0), &fresh_);
      for (const int32_t node : fresh_) take(scored(node));
    }
  }

  void take(const Neighbor& candidate) {
    beam_.insert(candidate.key, static_cast<int32_t>(candidate.id));
    if (!filter_.keeps_all() && filter_.keeps(candidate.id)) keep(candidate);
  }
  void keep(const Neighbor& candidate) {
    if (candidate.key <= kept_.worst_key()) kept_.push(candidate);
  }

  const GraphLinks& graph_;
  const GraphFilter& filter_;
  idx_t k_;
  int64_t nodes_;
  bool higher_is_nearer_;
  std::unique_ptr<::faiss::DistanceComputer> computer_;
  SeenNodes seen_;
  GraphBeam beam_;
  TopK kept_{1};  // of those the filter lets through
  std::vector<int32_t> fresh_;
};

}  // namespace

void search_faiss_graph(const GraphLinks& graph, const ::faiss::Index& storage,
                        const SearchRequest& request, const SearchResult& result) {
  const idx_t k = request.goal.k;
  const GraphFilter filter(request, nodes_kept(graph.ef, request, storage.ntotal), storage.ntotal,
                           false);
  const int threads = thread_count(0, request.nq);
  std::vector<std::unique_ptr<FaissGraphSearch>> searches(static_cast<size_t>(threads));
  SearchProgress progress(request.progress, static_cast<double>(request.nq));
  parallel_for(request.nq, threads, [&](int64_t query, int thread) {
    auto& search = searches[static_cast<size_t>(thread)];
    if (search == nullptr) search = std::make_unique<FaissGraphSearch>(graph, storage, k, filter);
    search->search(request.queries + query * storage.d, result.scores + query * k,
                   result.ids + query * k);
    progress.advance(1);
  });
}

}  // namespace polarquant
