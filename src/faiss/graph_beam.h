// SPDX-License-Identifier: MIT
// What a search of a graph keeps: which nodes it has seen, and the best of them so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace polarquant {

/// Nodes seen by the query at hand. A number for each query, so that nothing is cleared between
/// two.
class SeenNodes {
 public:
  void begin(int64_t nodes) {
    if (std::ssize(marks_) != nodes || ++query_ == 0) {
      marks_.assign(static_cast<size_t>(nodes), 0);
      query_ = 1;
    }
  }
  /// Whether the node is new.
  bool insert(int32_t node) {
    return std::exchange(marks_[static_cast<size_t>(node)], query_) != query_;
  }
  void fetch(int32_t node) const { __builtin_prefetch(&marks_[static_cast<size_t>(node)], 1); }

 private:
  std::vector<uint16_t> marks_;
  uint16_t query_ = 0;
};

/// The `size` best nodes so far, in order, and which of them were expanded. A sorted array: nodes
/// that are good enough to enter are few, and there is one memmove for each.
class GraphBeam {
 public:
  struct Node {
    float key;  // the smaller the better
    int32_t id;
    bool expanded;
  };

  void begin(int64_t size) {
    size_ = static_cast<size_t>(size);
    nodes_.clear();
    next_ = 0;
  }
  /// Keys above it do not enter.
  float worst_key() const {
    return nodes_.size() == size_ ? nodes_.back().key : std::numeric_limits<float>::infinity();
  }
  void insert(float key, int32_t id) {
    const auto before = [](const Node& a, const std::pair<float, int32_t>& b) {
      return a.key < b.first || (a.key == b.first && a.id < b.second);
    };
    const auto place =
        std::lower_bound(nodes_.begin(), nodes_.end(), std::make_pair(key, id), before);
    const auto at = static_cast<size_t>(place - nodes_.begin());
    if (at == size_) return;
    if (nodes_.size() == size_) nodes_.pop_back();
    nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(at), {key, id, false});
    next_ = std::min(next_, at);
  }
  /// The best node that was not expanded, which counts as expanded then; −1 when there is none.
  int32_t expand_next() {
    while (next_ < nodes_.size() && nodes_[next_].expanded) ++next_;
    if (next_ == nodes_.size()) return -1;
    nodes_[next_].expanded = true;
    return nodes_[next_].id;
  }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  size_t size_ = 0;
  size_t next_ = 0;  // nodes before it were expanded
  std::vector<Node> nodes_;
};

}  // namespace polarquant
