// SPDX-License-Identifier: MIT
// The walk over a graph whose nodes lie in records (scan/layout/link_record.h): the search of
// SymphonyQG (arXiv 2411.12229, algorithm 1), but for when it ends. Nodes wait by what signs say of
// them, and are scored by their codes when they are expanded. A node comes to wait once, with the
// first estimate that is good enough.
//
// How many nodes a query needs differs: what it must look at is what is nearly as near as the k-th
// best, many rows for one query and few for another. So a node is expanded while its estimate is
// within a margin of the k-th best found so far, the same for all queries, as in "Distance Adaptive
// Beam Search" (arXiv 2505.15636): to equal recall by a quarter fewer nodes than a beam of one size
// (docs/dev/tuning.md, "Graphs in records"). The margin fits ef by what is known of rows, their
// lengths; where they lie otherwise, half of ef nodes are expanded at least, and twice ef at most.
// A filter that keeps a share of the nodes divides both numbers by it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/core/portable_math.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/waiting_nodes.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/row_scorer.h"

namespace polarquant {

struct RecordGoal {
  int64_t k = 0;
  int64_t ef = 0;  // k or more
  /// Else by their number, after ef nodes, and FAISS's way is to expand one more.
  bool stops_by_distance = true;
  /// Over nodes: those that it does not keep are walked through, and not found. Borrowed; null:
  /// all.
  const RowFilter* filter = nullptr;
  double kept_share = 1;  // of the nodes, above 0
};

/// What walks of one thread work in.
struct RecordWalkMemory {
  SeenNodes seen;
  WaitingNodes waiting;
  std::vector<WaitingNode> reserve;
  std::vector<int32_t> slots;
};

/// One query's; a walk may wait while others go on.
class RecordWalk {
 public:
  /// Both are borrowed.
  RecordWalk(RowScorer& scorer, RecordWalkMemory& memory)
      : scorer_(scorer),
        seen_(memory.seen),
        waiting_(memory.waiting),
        reserve_(memory.reserve),
        slots_(memory.slots) {}

  /// For the scorer's query, from a node with its key. in_turn: others come between two calls of
  /// expand.
  void begin(const RecordGoal& goal, const Neighbor& start, int64_t nodes, bool in_turn) {
    in_turn_ = in_turn;
    const float spread = scorer_.begin_links();
    const double share = static_cast<double>(goal.ef) / static_cast<double>(goal.k);
    margin_ = spread * kMargin * static_cast<float>(portable_log(share));
    kept_ = TopK(ScanCodec::rescored_rows(goal.k));
    filter_ = goal.filter;
    const auto nodes_for = [&](int64_t count) {
      return static_cast<int64_t>(
          std::min(static_cast<double>(count) / goal.kept_share, static_cast<double>(nodes)));
    };
    least_ = nodes_for(goal.stops_by_distance ? std::max(goal.ef / 2, goal.k) : goal.ef + 1);
    most_ = nodes_for(goal.stops_by_distance ? 2 * goal.ef : goal.ef + 1);
    expanded_ = 0;
    reach_ = std::numeric_limits<float>::infinity();
    takes_all_ = !goal.stops_by_distance;
    seen_.begin(nodes);
    waiting_.clear();
    reserved_ = 0;
    const auto node = static_cast<int32_t>(start.id);
    seen_.add(node);
    waiting_.push({start.key, node});
    expected_ = -1;
    if (in_turn_) fetch_next(false);
  }
  /// Expands a node; false where there is none left.
  bool expand() {
    if (!has_next()) return false;
    ++expanded_;
    const int32_t node = waiting_.pop().id();
    // All of its lines at once: it may have come just now.
    scorer_.fetch_record(node);
    const bool was_expected = node == expected_;
    if (!in_turn_) fetch_next(was_expected);
    const RowScorer::LinkScores scores = scorer_.score_links(node);
    const float key = key_of_score(scores.similarity, true);
    if (key <= kept_.worst_key() && (filter_ == nullptr || filter_->keeps(node))) {
      kept_.push({key, node});
      reach_ = kept_.worst_key() + margin_;
    }
    take_near(scores);
    if (in_turn_) fetch_next(was_expected);
    return true;
  }
  /// The best of the nodes expanded, by their codes; some more than k.
  const std::vector<Neighbor>& found() const { return kept_.neighbors(); }

 private:
  /// Of the logarithm of ef over k and of how similarities of rows in unrelated directions spread:
  /// 117,659 rows of 384 dimensions then have about ef nodes within the margin.
  static constexpr float kMargin = .67F;

  bool has_next() {
    if (expanded_ == most_) return false;
    if (!waiting_.empty() && (takes_all_ || waiting_.first().key() <= reach_)) return true;
    if (expanded_ >= least_) return false;
    take_reserve();
    return !waiting_.empty();
  }
  /// From now on nodes are expanded that lie beyond the reach.
  void take_reserve() {
    takes_all_ = true;
    for (size_t i = 0; i < reserved_; ++i)
      if (seen_.add(reserve_[i].id())) waiting_.push(reserve_[i]);
    reserved_ = 0;
  }
  /// Begins to fetch what is read next, unless a nearer node comes: that is as likely as it was the
  /// last time.
  void fetch_next(bool is_likely) {
    if (waiting_.empty()) return;
    expected_ = waiting_.first().id();
    scorer_.fetch_next_record(expected_, is_likely);
  }
  void take_near(const RowScorer::LinkScores& scores) {
    if (expanded_ >= least_) takes_all_ = false;
    const float farthest = takes_all_ ? std::numeric_limits<float>::infinity() : reach_;
    slots_.resize(static_cast<size_t>(scores.slots));
    size_t count = 0;
    int links = 0;
    // No branches: which neighbours are near is not predictable.
    for (; links < scores.slots && scores.links[links] >= 0; ++links) {
      slots_[count] = links;
      count += -scores.similarities[links] <= farthest ? 1 : 0;
    }
    for (size_t i = 0; i < count; ++i) {
      const auto slot = static_cast<size_t>(slots_[i]);
      if (seen_.add(scores.links[slot]))
        waiting_.push({-scores.similarities[slot], scores.links[slot]});
    }
    if (takes_all_ || expanded_ >= least_) return;
    if (reserve_.size() < reserved_ + static_cast<size_t>(links))
      reserve_.resize(2 * reserve_.size() + static_cast<size_t>(links), {0, 0});
    for (int i = 0; i < links; ++i) {
      const float estimate = -scores.similarities[i];
      reserve_[reserved_] = {estimate, scores.links[i]};
      reserved_ += estimate > farthest ? 1 : 0;
    }
  }

  RowScorer& scorer_;
  SeenNodes& seen_;
  WaitingNodes& waiting_;              // within the reach, as it was when they came
  std::vector<WaitingNode>& reserve_;  // the first reserved_: beyond it, in any order; seen or not
  size_t reserved_ = 0;
  std::vector<int32_t>& slots_;  // of neighbours in a record that are near enough
  bool in_turn_ = false;
  const RowFilter* filter_ = nullptr;
  int64_t least_ = 0;
  int64_t most_ = 0;
  int64_t expanded_ = 0;
  float margin_ = 0;
  float reach_ = 0;  // the largest key of nodes that are to be expanded
  bool takes_all_ = false;
  int32_t expected_ = -1;  // the node that would have been expanded next
  TopK kept_{1};
};

}  // namespace polarquant
