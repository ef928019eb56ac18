// SPDX-License-Identifier: MIT
// The walk over a graph whose nodes lie in records (scan/layout/link_record.h): the search of
// SymphonyQG (arXiv 2411.12229, algorithm 1), but for when it ends. Nodes wait in the beam by what
// signs say of them, and are scored by their codes when they are expanded. A node enters the beam
// once, with the first estimate that is good enough.
//
// How many nodes a query needs differs: what it must look at is what is nearly as near as the k-th
// best, many rows for one query and few for another. So a node is expanded while its estimate is
// within a margin of the k-th best found so far, the same for all queries, as in "Distance Adaptive
// Beam Search" (arXiv 2505.15636): to equal recall by a quarter fewer nodes than a beam of one size
// (docs/dev/tuning.md, "Graphs in records").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/core/portable_math.h"
#include "src/faiss/graphs/graph_beam.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/top_k.h"
#include "src/scan/stores/row_scorer.h"

namespace polarquant {

struct RecordGoal {
  int64_t k = 0;
  int64_t ef = 0;  // k or more
  /// Else by their number, after ef nodes, and FAISS's way is to expand one more.
  bool stops_by_distance = true;
};

/// One query's; a walk may wait while others go on.
class RecordWalk {
 public:
  /// What it works in is borrowed.
  RecordWalk(RowScorer& scorer, SeenNodes* seen, GraphBeam* beam, std::vector<int32_t>* slots)
      : scorer_(scorer), seen_(*seen), beam_(*beam), slots_(*slots) {}

  /// For the scorer's query, from a node with its key. in_turn: others come between two calls of
  /// expand.
  void begin(const RecordGoal& goal, const Neighbor& start, int64_t nodes, bool in_turn) {
    in_turn_ = in_turn;
    kept_ = TopK(ScanCodec::rescored_rows(goal.k));
    const float spread = scorer_.begin_links();
    margin_ = spread * kMargin *
              static_cast<float>(
                  portable_log(static_cast<double>(goal.ef) / static_cast<double>(goal.k)));
    seen_.begin(nodes);
    if (goal.stops_by_distance) {
      beam_.begin(std::max(goal.ef / 2, goal.k), std::min(2 * goal.ef, nodes));
      left_ = std::numeric_limits<int64_t>::max();
    } else {
      beam_.begin(goal.ef);
      left_ = goal.ef + 1;
    }
    const auto node = static_cast<int32_t>(start.id);
    seen_.add(node);
    beam_.insert(start.key, node);
    expected_ = -1;
    if (in_turn_) fetch_next(false);
  }
  /// Expands a node; false where there is none left.
  bool expand() {
    if (left_ == 0 || !beam_.has_next()) return false;
    --left_;
    const int32_t node = beam_.expand_next();
    // All of its lines at once: it may have come into the beam just now.
    scorer_.fetch_record(node);
    const bool was_expected = node == expected_;
    if (!in_turn_) fetch_next(was_expected);
    const RowScorer::LinkScores scores = scorer_.score_links(node);
    const float key = key_of_score(scores.similarity, true);
    if (key <= kept_.worst_key()) {
      kept_.push({key, node});
      beam_.set_reach(kept_.worst_key() + margin_);
    }
    insert_near(scores);
    if (in_turn_) fetch_next(was_expected);
    return true;
  }
  /// The best of the nodes expanded, by their codes; some more than k.
  std::vector<Neighbor> found() const { return kept_.neighbors(); }

 private:
  /// Of the logarithm of ef over k and of how similarities of rows in unrelated directions spread:
  /// 117,659 rows of 384 dimensions then have about ef nodes within the margin.
  static constexpr float kMargin = .67F;

  /// Begins to fetch what is read next, unless a nearer node comes into the beam: that is as likely
  /// as it was the last time.
  void fetch_next(bool is_likely) {
    beam_.for_next(1, [&](int32_t next) {
      scorer_.fetch_next_record(next, is_likely);
      expected_ = next;
    });
  }
  void insert_near(const RowScorer::LinkScores& scores) {
    const float worst_key = beam_.worst_key();
    slots_.resize(static_cast<size_t>(scores.slots));
    size_t count = 0;
    // No branches: which neighbours are near is not predictable.
    for (int i = 0; i < scores.slots && scores.links[i] >= 0; ++i) {
      slots_[count] = i;
      count += -scores.similarities[i] <= worst_key ? 1 : 0;
    }
    for (size_t i = 0; i < count; ++i) {
      const int slot = slots_[i];
      const float estimate = -scores.similarities[slot];
      if (estimate <= beam_.worst_key() && seen_.add(scores.links[slot]))
        beam_.insert(estimate, scores.links[slot]);
    }
  }

  RowScorer& scorer_;
  SeenNodes& seen_;
  GraphBeam& beam_;
  std::vector<int32_t>& slots_;  // of neighbours in a record that are near enough
  bool in_turn_ = false;
  int64_t left_ = 0;  // nodes that may still be expanded
  float margin_ = 0;
  int32_t expected_ = -1;  // the node that would have been expanded next
  TopK kept_{1};
};

}  // namespace polarquant
