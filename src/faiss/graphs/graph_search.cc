// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/graph_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/graph_filter.h"
#include "src/faiss/index/row_checks.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/kept_copies.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

/// Standard deviations that a neighbour's bound stands above what its signs say. Of two sets of
/// 117,659 rows of 384 dimensions, at 2 and 4 bits, two of three neighbours are left out by it, and
/// recall@10 is the same within .0003 as without bounds: the worst node that a search keeps lies
/// well below the k-th best, so that a row wrongly left out is none of these. A search that keeps
/// every row leaves out none.
constexpr float kExactness = 1.5F;

/// Nodes that are expanded at a time. 117,659 rows of 384 dimensions: to .94 of recall@10, one
/// takes a tenth longer than two, three no less.
constexpr int kExpandedTogether = 2;

/// What searches of one thread work in.
struct GraphMemory {
  SeenNodes seen;
  GraphBeam beam;
  std::vector<int32_t> waiting;  // whose signs are on their way
  std::vector<int32_t> good;     // whose codes are on their way
  std::vector<float> keys;
};

/// One thread's searches of a graph.
class GraphSearch {
 public:
  GraphSearch(const GraphLinks& graph, const IndexPolar& rows, int64_t k, const GraphFilter& filter)
      : graph_(graph),
        filter_(filter),
        k_(k),
        higher_is_nearer_(rows.codec().higher_is_nearer()),
        nodes_(rows.ntotal),
        scorer_(rows.codes().make_scorer(rows.codec())) {}

  void search(const float* query, float* distances, idx_t* labels) {
    kept_ = TopK(k_);
    if (filter_.walks()) walk(query);
    if (filter_.gathers_after(kept_.neighbors().size())) gather(query);
    std::vector<Neighbor> found = filter_.keeps_all() ? beam_neighbors() : kept_.neighbors();
    for (Neighbor& candidate : found) {
      const float score = scorer_->exact_score(candidate.id);
      candidate.key = candidate.score = key_of_score(score, higher_is_nearer_);
    }
    write_top_k(found, k_, higher_is_nearer_, distances, labels);
  }

 private:
  struct Nearest {
    int32_t node;
    float key;
  };

  void walk(const float* query) {
    scorer_->set_query(query, kExactness);
    Nearest nearest = enter();
    for (int level = graph_.max_level; level > 0; --level) nearest = descend(nearest, level);
    search_level_0(nearest);
  }

  /// Scores all nodes that the filter keeps: some, while the codes of others are on their way.
  void gather(const float* query) {
    scorer_->set_query(query, kDefaultExactness);
    kept_ = TopK(k_);
    good_.clear();
    filter_.for_each([&](std::span<const int32_t> nodes) {
      waiting_.assign(nodes.begin(), nodes.end());
      fetch_nodes(waiting_);
      keep_gathered();
      good_.swap(waiting_);
      keep_reaching(kept_.worst_key(), good_);
    });
    keep_gathered();
  }
  void keep_gathered() {
    score_good();
    for (size_t i = 0; i < good_.size(); ++i)
      if (keys_[i] <= kept_.worst_key()) kept_.push({keys_[i], good_[i]});
  }

  Nearest enter() {
    good_.assign(1, graph_.entry_point);
    score_good();
    return {good_[0], keys_[0]};
  }

  /// Scores good_ into keys_.
  void score_good() {
    keys_.resize(good_.size());
    scorer_->score(good_.data(), static_cast<int>(good_.size()), keys_.data());
    for (float& key : keys_) key = key_of_score(key, higher_is_nearer_);
  }

  void keep_reaching(float worst_key, std::vector<int32_t>& nodes) const {
    const int kept =
        scorer_->keep_reaching(nodes.data(), static_cast<int>(nodes.size()), worst_key);
    nodes.resize(static_cast<size_t>(kept));
  }

  void fetch_nodes(const std::vector<int32_t>& nodes) const {
    scorer_->fetch(nodes.data(), static_cast<int>(nodes.size()));
  }

  Nearest descend(Nearest nearest, int level) {
    while (true) {
      good_.clear();
      for (const int32_t neighbour : graph_.neighbours(nearest.node, level)) {
        if (neighbour < 0) break;
        good_.push_back(neighbour);
      }
      fetch_nodes(good_);
      keep_reaching(nearest.key, good_);
      score_good();
      const Nearest before = nearest;
      for (size_t i = 0; i < good_.size(); ++i)
        if (keys_[i] < nearest.key) nearest = {good_[i], keys_[i]};
      if (nearest.node == before.node) return nearest;
    }
  }

  void search_level_0(Nearest start) {
    seen_.begin(nodes_);
    beam_.begin(filter_.ef());
    waiting_.clear();
    seen_.add_new({&start.node, 1}, &waiting_);
    waiting_.clear();
    take(start.node, start.key);
    // FAISS's way to stop after ef nodes is to expand one more.
    int64_t left =
        graph_.stops_by_distance ? std::numeric_limits<int64_t>::max() : filter_.ef() + 1;
    while ((left > 0 && beam_.has_next()) || !waiting_.empty()) {
      beam_.for_next(kExpandedTogether, [&](int32_t node) {
        const std::span<const int32_t> neighbours = graph_.neighbours(node, 0);
        fetch(reinterpret_cast<const uint8_t*>(neighbours.data()), neighbours.size_bytes());
      });
      good_.swap(waiting_);
      keep_reaching(worst_key(), good_);
      waiting_.clear();
      for (int i = 0; i < kExpandedTogether && left > 0 && beam_.has_next(); ++i, --left)
        seen_.add_new(graph_.neighbours(beam_.expand_next(), 0), &waiting_);
      fetch_nodes(waiting_);
      score_good();
      for (size_t i = 0; i < good_.size(); ++i) take(good_[i], keys_[i]);
    }
  }

  /// Keys above it change nothing.
  float worst_key() const {
    return filter_.keeps_all() ? beam_.worst_key() : std::max(beam_.worst_key(), kept_.worst_key());
  }

  void take(int32_t node, float key) {
    if (beam_.insert(key, node)) graph_.fetch_place(node);
    if (!filter_.keeps_all() && key <= kept_.worst_key() && filter_.keeps(node))
      kept_.push({key, node});
  }

  std::vector<Neighbor> beam_neighbors() const {
    std::vector<Neighbor> best;
    const size_t count = std::min(beam_.size(), static_cast<size_t>(k_));
    for (size_t i = 0; i < count; ++i) best.push_back({0, beam_.id(i)});
    return best;
  }

  const GraphLinks& graph_;
  const GraphFilter& filter_;
  int64_t k_;
  bool higher_is_nearer_;
  int64_t nodes_;
  std::unique_ptr<RowScorer> scorer_;
  TopK kept_{1};  // of those the filter lets through
  SpareMemory<GraphMemory> memory_;
  SeenNodes& seen_ = memory_->seen;
  GraphBeam& beam_ = memory_->beam;
  std::vector<int32_t>& waiting_ = memory_->waiting;
  std::vector<int32_t>& good_ = memory_->good;
  std::vector<float>& keys_ = memory_->keys;
};

}  // namespace

void search_graph(const GraphLinks& graph, const IndexPolar& rows, const SearchRequest& request,
                  const SearchResult& result) {
  const idx_t n = request.nq;
  const idx_t k = request.goal.k;
  require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
  require_rows("search", n, rows.d, request.queries);
  require_trained("search", rows.codec());
  require(request.options.ef_search > 0 || graph.ef >= 1, StatusCode::bad_argument,
          "search: {} is {}; at least 1 is needed", graph.ef_name, graph.ef);
  checked_mul(checked_mul(n, k, "n x k results"), sizeof(idx_t), "n x k results");
  if (rows.ntotal == 0) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::fill_n(result.scores, n * k, rows.codec().higher_is_nearer() ? -kInfinity : kInfinity);
    std::fill_n(result.ids, n * k, idx_t{-1});
    return;
  }
  const GraphFilter filter(request, nodes_kept(graph.ef, request, rows.ntotal), rows.ntotal);
  SearchRequest node_request = request;
  node_request.filter = filter.nodes();
  if (search_kept_copies(rows.codes(), rows.codec(), node_request, filter.most_copies(), result))
    return;
  const int threads = thread_count(0, n);
  std::vector<std::unique_ptr<GraphSearch>> searches(static_cast<size_t>(threads));
  SearchProgress progress(request.progress, static_cast<double>(n));
  parallel_for(n, threads, [&](int64_t query, int thread) {
    auto& search = searches[static_cast<size_t>(thread)];
    if (search == nullptr) search = std::make_unique<GraphSearch>(graph, rows, k, filter);
    search->search(request.queries + query * rows.d, result.scores + query * k,
                   result.ids + query * k);
    progress.advance(1);
  });
}

}  // namespace polarquant
