// SPDX-License-Identifier: MIT
// Nodes of a graph that wait to be expanded, the nearest first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace polarquant {

/// A node with its key, in one number that orders as they do, the lower id first where keys are
/// equal: numbers are compared without a branch.
class WaitingNode {
 public:
  /// key: not NaN.
  WaitingNode(float key, int32_t id)
      : number_(uint64_t{ordered(key)} << 32 | static_cast<uint32_t>(id)) {}

  float key() const {
    const auto bits = static_cast<uint32_t>(number_ >> 32);
    return std::bit_cast<float>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
  }
  int32_t id() const { return static_cast<int32_t>(static_cast<uint32_t>(number_)); }
  friend bool operator>(WaitingNode a, WaitingNode b) { return a.number_ > b.number_; }

 private:
  static constexpr uint32_t kSign = uint32_t{1} << 31;

  static uint32_t ordered(float key) {
    const auto bits = std::bit_cast<uint32_t>(key + 0.0F);  // −0 is 0
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }

  uint64_t number_;
};

/// A heap: most nodes that come are further away than most that wait, and so cost little, and of
/// those that wait most never go.
class WaitingNodes {
 public:
  void clear() { nodes_.clear(); }
  bool empty() const { return nodes_.empty(); }
  /// The nearest; there must be one.
  WaitingNode first() const { return nodes_.front(); }
  void push(WaitingNode node) {
    size_t at = nodes_.size();
    nodes_.push_back(node);
    WaitingNode* nodes = nodes_.data();
    while (at > 0 && nodes[(at - 1) / kChildren] > node) {
      nodes[at] = nodes[(at - 1) / kChildren];
      at = (at - 1) / kChildren;
    }
    nodes[at] = node;
  }
  WaitingNode pop() {
    const WaitingNode first = nodes_.front();
    const WaitingNode last = nodes_.back();
    nodes_.pop_back();
    const size_t size = nodes_.size();
    if (size == 0) return first;
    WaitingNode* nodes = nodes_.data();
    size_t at = 0;
    while (true) {
      const size_t child = kChildren * at + 1;
      size_t least = child;
      if (child + kChildren <= size) {
        // No branches: which is the least is not predictable.
        const size_t a = child + (nodes[child] > nodes[child + 1] ? 1 : 0);
        const size_t b = child + 2 + (nodes[child + 2] > nodes[child + 3] ? 1 : 0);
        least = nodes[a] > nodes[b] ? b : a;
      } else {
        if (child >= size) break;
        for (size_t i = child + 1; i < size; ++i)
          if (nodes[least] > nodes[i]) least = i;
      }
      if (!(last > nodes[least])) break;
      nodes[at] = nodes[least];
      at = least;
    }
    nodes[at] = last;
    return first;
  }

 private:
  static constexpr size_t kChildren = 4;

  std::vector<WaitingNode> nodes_;
};

}  // namespace polarquant
