// SPDX-License-Identifier: MIT
// Which candidates become links of a row: near ones that lie in different directions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/faiss/graphs/link_candidates.h"
#include "src/faiss/graphs/node_distances.h"

namespace polarquant {

/// For one thread; the distances are borrowed.
class LinkChoice {
 public:
  /// fills_lists: whether places that the choice leaves free get the nearest of those not chosen:
  /// where a node is read whole, more links cost nothing.
  LinkChoice(NodeDistances& distances, bool fills_lists)
      : distances_(distances), fills_lists_(fills_lists) {}

  /// Of candidates in order, where there are `most` or more, those stay that are nearer to the row
  /// than to any that stays before them, up to `most`.
  void choose(std::vector<LinkCandidate>* candidates, size_t most) {
    others_.clear();
    if (candidates->size() < most) return;
    distances_.forget_chosen();
    size_t chosen = 0;
    for (const LinkCandidate next : *candidates) {
      if (chosen == most) break;
      if (!distances_.is_near_chosen(next.node, next.distance)) {
        distances_.choose();
        (*candidates)[chosen++] = next;
      } else if (fills_lists_) {
        others_.push_back(next);
      }
    }
    candidates->resize(chosen);
  }
  /// Adds the nearest of those that the last choice left out.
  void fill(std::vector<LinkCandidate>* chosen, size_t most) const {
    for (size_t i = 0; i < others_.size() && chosen->size() < most; ++i)
      if (!holds(*chosen, others_[i].node)) chosen->push_back(others_[i]);
  }

  static bool holds(const std::vector<LinkCandidate>& candidates, SharedGraph::Node node) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [node](const LinkCandidate& each) { return each.node == node; });
  }

 private:
  NodeDistances& distances_;
  bool fills_lists_;
  std::vector<LinkCandidate> others_;  // nearest first
};

}  // namespace polarquant
