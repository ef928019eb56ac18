// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/graph_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/parallel.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/graph_filter.h"
#include "src/faiss/graphs/record_walk.h"
#include "src/faiss/index/row_checks.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/search_result.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/kept_copies.h"
#include "src/scan/stores/row_store.h"

namespace polarquant {
namespace {

/// Nodes are compared by levels, which are off by up to this share of the query's length times a
/// typical row's: .4 % with 20 dimensions, less with more. So much beyond a radius nodes are taken,
/// and left out by their scores.
constexpr float kLevelError = .01F;

/// Searches through records that one thread makes in turn: .93 of the time of one after another.
constexpr int64_t kSearchesInTurn = 4;

/// What searches of one thread work in.
struct GraphMemory {
  SeenNodes seen;
  SeenNodes expanded;           // for searches within a radius
  std::vector<int32_t> inside;  // the radius
  GraphBeam beam;
  std::vector<int32_t> waiting;  // whose signs are on their way
  std::vector<int32_t> good;     // whose codes are on their way
  std::vector<float> keys;
  RecordWalkMemory records;
};

/// One thread's searches of a graph.
class GraphSearch {
 public:
  GraphSearch(const GraphLinks& graph, const IndexPolar& rows, const SearchGoal& goal,
              const GraphFilter& filter)
      : graph_(graph),
        filter_(filter),
        goal_(goal),
        collects_(goal.is_range || !filter.keeps_all()),
        higher_is_nearer_(rows.codec().higher_is_nearer()),
        codec_(rows.codec()),
        nodes_(rows.ntotal),
        reads_records_(!goal.is_range && filter.knows_share() &&
                       rows.codes().records_are_written()),
        scorer_(rows.codes().make_scorer(rows.codec())) {}

  // A search is in parts, so that those of several queries may go on in turn: each then waits for
  // memory while the core is with others.

  /// All but the walk through records. in_turn: others come between two calls of expand_record.
  void begin(const float* query, float radius, bool in_turn) {
    query_ = query;
    in_turn_ = in_turn;
    if (goal_.is_range) set_limit(query, radius);
    kept_ = collector();
    if (filter_.walks()) walk(query);
  }
  /// A step of the walk through records; false where there is none left.
  bool expand_record() { return reads_records_ && filter_.walks() && records_.expand(); }
  /// The best that a search for k finds, or all within the radius and few others, with their
  /// scores.
  std::vector<Neighbor> finish() {
    const bool gathers =
        filter_.gathers_after(reads_records_ ? records_.found().size() : kept_.neighbors().size());
    if (gathers) gather(query_);
    std::vector<Neighbor> found = reads_records_ && !gathers ? records_.found()
                                  : collects_                ? kept_.neighbors()
                                                             : beam_neighbors();
    for (Neighbor& candidate : found) {
      const float score = scorer_->exact_score(candidate.id);
      candidate.key = candidate.score = key_of_score(score, higher_is_nearer_);
    }
    return found;
  }

 private:
  struct Nearest {
    int32_t node;
    float key;
  };

  void set_limit(const float* query, float radius) {
    const std::span<const float> centre = codec_.centre();
    double squares = 0;
    for (size_t i = 0; i < static_cast<size_t>(codec_.dim()); ++i) {
      const double value = double{query[i]} - (centre.empty() ? 0 : centre[i]);
      squares += value * value;
    }
    const double error = std::sqrt(squares) * codec_.norm_unit() * kLevelError;
    limit_ = key_of_score(radius, higher_is_nearer_) +
             static_cast<float>(higher_is_nearer_ ? error : 2 * error);
  }

  TopK collector() const {
    if (goal_.is_range) return TopK::within(limit_);
    return TopK(goal_.k);
  }

  void walk(const float* query) {
    scorer_->set_query(query, kGraphExactness);
    Nearest nearest = enter();
    for (int level = graph_.max_level; level > 0; --level) nearest = descend(nearest, level);
    if (reads_records_) {
      const RecordGoal goal = {goal_.k, filter_.own_ef(), graph_.stops_by_distance,
                               filter_.keeps_all() ? nullptr : &filter_.nodes(),
                               filter_.kept_share()};
      return records_.begin(goal, {nearest.key, nearest.node}, nodes_, in_turn_);
    }
    search_level_0(nearest);
    if (goal_.is_range) expand_inside();
  }

  /// Scores all nodes that the filter keeps: some, while the codes of others are on their way.
  void gather(const float* query) {
    scorer_->set_query(query, kDefaultExactness);
    kept_ = collector();
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
        graph_.fetch_place(neighbour);
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
    if (goal_.is_range) {
      expanded_.begin(nodes_);
      inside_.clear();
    }
    waiting_.clear();
    seen_.add(start.node);
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
        seen_.add_new(graph_.neighbours(expand_next(), 0), &waiting_);
      fetch_nodes(waiting_);
      score_good();
      for (size_t i = 0; i < good_.size(); ++i) take(good_[i], keys_[i]);
    }
  }

  int32_t expand_next() {
    const int32_t node = beam_.expand_next();
    if (goal_.is_range) expanded_.add(node);
    return node;
  }

  /// Looks at the neighbours of all nodes within the radius, whatever the filter says of these.
  void expand_inside() {
    for (size_t i = 0; i < inside_.size(); ++i) {
      if (!expanded_.add(inside_[i])) continue;
      good_.clear();
      seen_.add_new(graph_.neighbours(inside_[i], 0), &good_);
      fetch_nodes(good_);
      keep_reaching(limit_, good_);
      score_good();
      for (size_t j = 0; j < good_.size(); ++j) keep(good_[j], keys_[j]);
    }
  }

  /// Keys above it change nothing.
  float worst_key() const {
    return collects_ ? std::max(beam_.worst_key(), kept_.worst_key()) : beam_.worst_key();
  }

  void take(int32_t node, float key) {
    if (beam_.insert(key, node)) graph_.fetch_place(node);
    if (collects_) keep(node, key);
  }
  void keep(int32_t node, float key) {
    if (goal_.is_range && key <= limit_) inside_.push_back(node);
    if (key <= kept_.worst_key() && filter_.keeps(node)) kept_.push({key, node});
  }

  std::vector<Neighbor> beam_neighbors() const {
    std::vector<Neighbor> best;
    const size_t count = std::min(beam_.size(), static_cast<size_t>(goal_.k));
    for (size_t i = 0; i < count; ++i) best.push_back({0, beam_.id(i)});
    return best;
  }

  const GraphLinks& graph_;
  const GraphFilter& filter_;
  SearchGoal goal_;
  bool collects_;  // what it finds is not just the best nodes of the beam
  bool higher_is_nearer_;
  const Codec& codec_;
  const float* query_ = nullptr;
  bool in_turn_ = false;
  float limit_ = 0;  // the largest key that may be within the radius
  int64_t nodes_;
  bool reads_records_;
  std::unique_ptr<RowScorer> scorer_;
  TopK kept_{1};  // of those the filter lets through, or that lie within the radius
  SpareMemory<GraphMemory> memory_;
  SeenNodes& seen_ = memory_->seen;
  SeenNodes& expanded_ = memory_->expanded;
  std::vector<int32_t>& inside_ = memory_->inside;
  GraphBeam& beam_ = memory_->beam;
  std::vector<int32_t>& waiting_ = memory_->waiting;
  std::vector<int32_t>& good_ = memory_->good;
  std::vector<float>& keys_ = memory_->keys;
  RecordWalk records_{*scorer_, memory_->records};
};

/// Of queries from `first` on, one for each search.
void search_in_turn(std::span<const std::unique_ptr<GraphSearch>> searches,
                    const SearchRequest& request, int dim, int64_t first, ResultWriter* writer) {
  for (size_t i = 0; i < searches.size(); ++i) {
    const int64_t query = first + static_cast<int64_t>(i);
    searches[i]->begin(request.queries + query * int64_t{dim}, request.goal.radius_of(query),
                       searches.size() > 1);
  }
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& search : searches)
      if (search->expand_record()) goes_on = true;
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    std::vector<Neighbor> found = searches[i]->finish();
    writer->write(0, first + static_cast<int64_t>(i), found);
  }
}

}  // namespace

void search_graph(const GraphLinks& graph, const IndexPolar& rows, const SearchRequest& request,
                  const SearchResult& result) {
  const idx_t n = request.nq;
  require_rows(request.goal.is_range ? "range_search" : "search", n, rows.d, request.queries);
  require_trained("search", rows.codec());
  require(request.options.ef_search > 0 || graph.ef >= 1, StatusCode::bad_argument,
          "search: {} is {}; at least 1 is needed", graph.ef_name, graph.ef);
  ResultWriter writer(request, rows.codec().higher_is_nearer(), result);
  const GraphFilter filter(request, nodes_kept(graph.ef, request, rows.ntotal), rows.ntotal,
                           rows.codes().records_are_written());
  SearchRequest node_request = request;
  node_request.filter = filter.nodes();
  if (rows.ntotal > 0 &&
      search_kept_copies(rows.codes(), rows.codec(), node_request, filter.most_copies(), result))
    return;
  writer.begin_group(n);
  const int threads = thread_count(0, n);
  const int64_t in_turn =
      std::clamp<int64_t>(rows.codes().records_are_written() ? n / threads : 1, 1, kSearchesInTurn);
  std::vector<std::vector<std::unique_ptr<GraphSearch>>> searches(static_cast<size_t>(threads));
  SearchProgress progress(request.progress, static_cast<double>(n));
  parallel_for((n + in_turn - 1) / in_turn, threads, [&](int64_t group, int thread) {
    const int64_t first = group * in_turn;
    const int64_t count = std::min(in_turn, n - first);
    if (rows.ntotal > 0) {
      auto& own = searches[static_cast<size_t>(thread)];
      while (std::ssize(own) < count)
        own.push_back(std::make_unique<GraphSearch>(graph, rows, request.goal, filter));
      search_in_turn({own.data(), static_cast<size_t>(count)}, request, rows.d, first, &writer);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        std::vector<Neighbor> none;
        writer.write(0, first + i, none);
      }
    }
    progress.advance(static_cast<double>(count));
  });
  writer.end_group();
}

}  // namespace polarquant
