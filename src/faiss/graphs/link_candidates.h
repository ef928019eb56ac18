// SPDX-License-Identifier: MIT
// Rows that may become neighbours of a row in a graph: walks of one thread that find them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "src/faiss/graphs/graph_beam.h"
#include "src/faiss/graphs/graph_search.h"
#include "src/faiss/graphs/node_distances.h"
#include "src/faiss/graphs/shared_graph.h"

namespace polarquant {

struct LinkCandidate {
  float distance;  // to the row
  SharedGraph::Node node;

  /// The nearest first, the lower row where two are as near.
  friend bool operator<(const LinkCandidate& a, const LinkCandidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
  }
};

/// The graph and the distances are borrowed; the row is the distances' query.
class CandidateWalk {
 public:
  using Node = SharedGraph::Node;

  CandidateWalk(const SharedGraph& graph, NodeDistances& distances)
      : graph_(graph), distances_(distances) {}

  LinkCandidate scored(Node node) {
    float distance = 0;
    distances_.from_query(&node, 1, &distance);
    return {distance, node};
  }

  /// Goes to nearer neighbours on a level until there is none.
  void descend(int level, LinkCandidate* nearest) {
    while (true) {
      const Node before = nearest->node;
      read_links(before, level);
      good_.assign(links_.begin(), links_.end());
      distances_.fetch(good_.data(), static_cast<int>(good_.size()));
      score_good(nearest->distance);
      for (size_t i = 0; i < good_.size(); ++i)
        if (scores_[i] < nearest->distance) *nearest = {scores_[i], good_[i]};
      if (nearest->node == before) return;
    }
  }

  /// The efConstruction nearest of a level that the walk comes to, but for the row itself, in
  /// order.
  void find(Node self, int level, LinkCandidate start, std::vector<LinkCandidate>* found) {
    seen_.begin(static_cast<int64_t>(graph_.rows()));
    beam_.begin(static_cast<int64_t>(graph_.ef_construction()));
    seen_.add(self);
    seen_.add(start.node);
    beam_.insert(start.distance, start.node);
    waiting_.clear();
    std::array<float, kExpandedTogether> parents{};  // distances of those whose links wait
    while (beam_.has_next() || !waiting_.empty()) {
      good_.swap(waiting_);
      waiting_.clear();
      const std::array<float, kExpandedTogether> parents_of_good = parents;
      // What the links of the next nodes need is on its way while those of the last are scored.
      for (float& parent : parents) {
        if (!beam_.has_next()) break;
        parent = beam_.next_key();
        read_links(beam_.expand_next(), level);
        seen_.add_new(links_, &waiting_);
      }
      distances_.fetch(waiting_.data(), static_cast<int>(waiting_.size()));
      score_good(beam_.worst_key());
      for (size_t i = 0; i < good_.size(); ++i) {
        // One as far as the last does not take its place: where all are equally far, as from a row
        // of another scale, those near the start are the ones that a search comes to.
        if (!(scores_[i] < beam_.worst_key())) continue;
        // The first of a chain represents the others, which are as far.
        if (level == 0 && is_one_of(parents_of_good, scores_[i]) && graph_.is_chained(good_[i]))
          continue;
        beam_.insert(scores_[i], good_[i]);
      }
    }
    found->clear();
    for (size_t i = 0; i < beam_.size(); ++i) found->push_back({beam_.key(i), beam_.id(i)});
  }

 private:
  static bool is_one_of(const std::array<float, kExpandedTogether>& values, float value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }

  /// Others may be writing them.
  void read_links(Node node, int level) {
    const SharedGraph::Links links = graph_.links(node, level);
    links_.clear();
    for (size_t i = 0; i < links.size(); ++i) {
      const Node link = links[i];
      if (link < 0) break;
      links_.push_back(link);
    }
  }
  /// Of good_, those that may be nearer than `farthest`.
  void score_good(float farthest) {
    good_.resize(static_cast<size_t>(
        distances_.keep_reaching(good_.data(), static_cast<int>(good_.size()), farthest)));
    scores_.resize(good_.size());
    distances_.from_query(good_.data(), static_cast<int>(good_.size()), scores_.data());
  }

  const SharedGraph& graph_;
  NodeDistances& distances_;
  SeenNodes seen_;
  GraphBeam beam_;
  std::vector<Node> links_;
  std::vector<Node> waiting_;  // what bounds read of them is on its way
  std::vector<Node> good_;
  std::vector<float> scores_;
};

}  // namespace polarquant
