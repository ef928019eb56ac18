// SPDX-License-Identifier: MIT
#include "src/faiss/graph_search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/faiss/graph_beam.h"
#include "src/faiss/row_checks.h"
#include "src/scan/row_store.h"
#include "src/scan/top_k.h"

namespace polarquant {
namespace {

/// One thread's searches of a graph.
class GraphSearch {
 public:
  GraphSearch(const GraphView& graph, const IndexPolar& rows, int64_t k,
              const GraphParameters& parameters)
      : graph_(graph),
        k_(k),
        parameters_(parameters),
        higher_is_nearer_(rows.codec().higher_is_nearer()),
        nodes_(rows.ntotal),
        scorer_(rows.codes().make_scorer(rows.codec())) {}

  void search(const float* query, float* distances, idx_t* labels) {
    scorer_->set_query(query);
    Nearest nearest = enter();
    for (int level = graph_.max_level(); level > 0; --level) nearest = descend(nearest, level);
    search_level_0(nearest);
    std::vector<Candidate> found = parameters_.sel != nullptr ? kept_.candidates() : of_beam();
    for (Candidate& candidate : found) {
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

  Nearest enter() {
    rows_.assign(1, graph_.entry_point());
    score();
    return {rows_[0], keys_[0]};
  }

  /// Scores rows_ into keys_.
  void score() {
    scores_.resize(rows_.size());
    keys_.resize(rows_.size());
    scorer_->score(rows_.data(), static_cast<int>(rows_.size()), scores_.data());
    for (size_t i = 0; i < rows_.size(); ++i)
      keys_[i] = key_of_score(scores_[i], higher_is_nearer_);
  }

  /// body(node) for the neighbours of a node on a level.
  template <typename Body>
  void for_each_neighbour(int32_t node, int level, const Body& body) const {
    for (const int32_t neighbour : graph_.neighbours(node, level)) {
      if (neighbour < 0) return;
      body(neighbour);
    }
  }

  Nearest descend(Nearest nearest, int level) {
    while (true) {
      rows_.clear();
      for_each_neighbour(nearest.node, level, [&](int32_t node) {
        scorer_->fetch(node);
        rows_.push_back(node);
      });
      score();
      const Nearest before = nearest;
      for (size_t i = 0; i < rows_.size(); ++i)
        if (keys_[i] < nearest.key) nearest = {rows_[i], keys_[i]};
      if (nearest.node == before.node) return nearest;
    }
  }

  void search_level_0(Nearest start) {
    seen_.begin(nodes_);
    beam_.begin(parameters_.ef);
    kept_ = TopK(k_);
    seen_.insert(start.node);
    take(start.node, start.key);
    int64_t steps = 0;
    for (int32_t node; (node = beam_.expand_next()) >= 0;) {
      rows_.clear();
      for_each_neighbour(node, 0, [&](int32_t neighbour) { seen_.fetch(neighbour); });
      for_each_neighbour(node, 0, [&](int32_t neighbour) {
        if (!seen_.insert(neighbour)) return;
        scorer_->fetch(neighbour);
        rows_.push_back(neighbour);
      });
      score();
      for (size_t i = 0; i < rows_.size(); ++i) take(rows_[i], keys_[i]);
      if (!parameters_.stops_by_distance && ++steps > parameters_.ef) return;
    }
  }

  void take(int32_t node, float key) {
    if (key <= beam_.worst_key()) beam_.insert(key, node);
    if (parameters_.sel != nullptr && key <= kept_.worst_key() && parameters_.sel->is_member(node))
      kept_.push({key, node});
  }

  std::vector<Candidate> of_beam() const {
    std::vector<Candidate> best;
    for (const GraphBeam::Node& node : beam_.nodes()) {
      if (std::ssize(best) == k_) break;
      best.push_back({node.key, node.id});
    }
    return best;
  }

  const GraphView& graph_;
  int64_t k_;
  GraphParameters parameters_;
  bool higher_is_nearer_;
  int64_t nodes_;
  std::unique_ptr<RowScorer> scorer_;
  SeenNodes seen_;
  GraphBeam beam_;
  TopK kept_{1};  // of those the selector names
  std::vector<int32_t> rows_;
  std::vector<float> scores_;
  std::vector<float> keys_;
};

}  // namespace

void search_graph(const GraphView& graph, const IndexPolar& rows, idx_t n, const float* x, idx_t k,
                  GraphParameters parameters, float* distances, idx_t* labels) {
  require(k >= 1, StatusCode::bad_argument, "search: k is {}; at least 1 is needed", k);
  require_rows("search", n, rows.d, x);
  require_trained("search", rows.codec());
  require(parameters.ef >= 1, StatusCode::bad_argument, "search: {} is {}; at least 1 is needed",
          parameters.ef_name, parameters.ef);
  checked_mul(checked_mul(n, k, "n x k results"), sizeof(idx_t), "n x k results");
  if (rows.ntotal == 0) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::fill_n(distances, n * k, rows.codec().higher_is_nearer() ? -kInfinity : kInfinity);
    std::fill_n(labels, n * k, idx_t{-1});
    return;
  }
  parameters.ef = std::min(std::max<int64_t>(parameters.ef, k), rows.ntotal);
  const int threads = thread_count(0, n);
  std::vector<std::unique_ptr<GraphSearch>> searches(static_cast<size_t>(threads));
  parallel_for(n, threads, [&](int64_t query, int thread) {
    auto& search = searches[static_cast<size_t>(thread)];
    if (search == nullptr) search = std::make_unique<GraphSearch>(graph, rows, k, parameters);
    search->search(x + query * rows.d, distances + query * k, labels + query * k);
  });
}

}  // namespace polarquant
