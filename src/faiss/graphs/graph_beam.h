// SPDX-License-Identifier: MIT
// What a search of a graph remembers: which nodes it has seen, and the best of them so far.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace polarquant {

/// Nodes that the current query has seen: one bit each, so that those of a million nodes stay in a
/// second-level cache. A search sees few of them, and clears only theirs for the next.
class SeenNodes {
 public:
  void begin(int64_t nodes) {
    const auto words = static_cast<size_t>((nodes + kWordNodes - 1) / kWordNodes);
    if (words_.size() == words) {
      for (const int32_t node : seen_) words_[word_of(node)] = 0;
    } else {
      words_.assign(words, 0);
    }
    seen_.clear();
  }
  /// Whether the node was not seen.
  bool add(int32_t node) {
    uint64_t& word = words_[word_of(node)];
    const uint64_t bit = uint64_t{1} << (node % kWordNodes);
    if ((word & bit) != 0) return false;
    seen_.push_back(node);  // memory first, as below
    word |= bit;
    return true;
  }
  /// Adds to `found` those of the nodes, up to the first that is negative, that were not seen.
  void add_new(std::span<const int32_t> nodes, std::vector<int32_t>* found) {
    for (const int32_t node : nodes) {
      if (node < 0) break;
      __builtin_prefetch(&words_[word_of(node)], 1);
    }
    // Memory first: every marked node must be in the list, whatever fails.
    const size_t first = seen_.size();
    seen_.resize(first + nodes.size());
    size_t size = first;
    // No branches: which nodes are new is not predictable.
    for (const int32_t node : nodes) {
      if (node < 0) break;
      uint64_t& word = words_[word_of(node)];
      const uint64_t bit = uint64_t{1} << (node % kWordNodes);
      seen_[size] = node;
      size += (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
    seen_.resize(size);
    found->insert(found->end(), seen_.begin() + static_cast<ptrdiff_t>(first), seen_.end());
  }

 private:
  static constexpr int kWordNodes = 64;

  static size_t word_of(int32_t node) { return static_cast<size_t>(node) / kWordNodes; }

  std::vector<uint64_t> words_;
  std::vector<int32_t> seen_;
};

/// The best nodes so far, in order, and which of them were expanded. A sorted array: few nodes are
/// good enough to enter, and a memmove for each is the least work.
class GraphBeam {
 public:
  /// Keeps the `size` best.
  void begin(int64_t size) { begin(size, size); }
  /// Keeps the `least` best, and of the others those within a reach, up to `most` in all.
  void begin(int64_t least, int64_t most) {
    least_ = static_cast<size_t>(least);
    most_ = static_cast<size_t>(most);
    reach_ = std::numeric_limits<float>::infinity();
    nodes_.clear();
    next_ = 0;
  }
  /// Sets how far the key of a node may be that is not of the `least` best.
  void set_reach(float key) { reach_ = key; }
  /// Keys above it do not enter.
  float worst_key() const {
    if (nodes_.size() < least_) return std::numeric_limits<float>::infinity();
    const float reached = std::max(reach_, nodes_[least_ - 1].key());
    return nodes_.size() == most_ ? std::min(reached, nodes_.back().key()) : reached;
  }
  /// Whether the node enters: the smaller key is the better one, the lower id where keys are equal.
  bool insert(float key, int32_t id) {
    if (key > worst_key()) return false;
    const Node node(key, id);
    const size_t at = place_of(node);
    if (at == most_) return false;
    if (nodes_.size() == most_) nodes_.pop_back();
    nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(at), node);
    next_ = std::min(next_, at);
    return true;
  }
  /// Whether there are nodes that were not expanded, and are to be.
  bool has_next() {
    while (next_ < nodes_.size() && nodes_[next_].is_expanded()) ++next_;
    return next_ < nodes_.size() && (next_ < least_ || nodes_[next_].key() <= reach_);
  }
  /// The best of them, which then counts as expanded; there must be one.
  int32_t expand_next() {
    has_next();
    nodes_[next_].set_expanded();
    return nodes_[next_].id();
  }
  /// visit(node) for those that would be expanded next, up to `count`.
  template <typename Visit>
  void for_next(int count, const Visit& visit) const {
    for (size_t at = next_; at < nodes_.size() && count > 0; ++at) {
      if (nodes_[at].is_expanded()) continue;
      visit(nodes_[at].id());
      --count;
    }
  }

  size_t size() const { return nodes_.size(); }
  int32_t id(size_t at) const { return nodes_[at].id(); }
  float key(size_t at) const { return nodes_[at].key(); }

 private:
  /// Key, id and mark in one number that orders as they do: what looks for a place in the array
  /// waits for each comparison, and numbers take the least time.
  class Node {
   public:
    Node(float key, int32_t id)
        : number_(uint64_t{ordered(key)} << 32 | static_cast<uint64_t>(id) << 1) {}
    friend bool operator<(Node a, Node b) { return a.number_ < b.number_; }
    float key() const {
      const auto bits = static_cast<uint32_t>(number_ >> 32);
      return std::bit_cast<float>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
    }
    int32_t id() const { return static_cast<int32_t>(static_cast<uint32_t>(number_) >> 1); }
    bool is_expanded() const { return (number_ & 1) != 0; }
    void set_expanded() { number_ |= 1; }

   private:
    static constexpr uint32_t kSign = uint32_t{1} << 31;
    static uint32_t ordered(float key) {
      const auto bits = std::bit_cast<uint32_t>(key + 0.0F);  // −0 is 0
      return (bits & kSign) != 0 ? ~bits : bits | kSign;
    }

    uint64_t number_;
  };

  /// The first place whose node is not before this one; without branches, which are not
  /// predictable.
  size_t place_of(Node node) const {
    size_t first = 0;
    for (size_t count = nodes_.size(); count > 0;) {
      const size_t half = (count + 1) / 2;
      first += nodes_[first + half - 1] < node ? half : 0;
      count -= half;
    }
    return first;
  }

  size_t least_ = 0;
  size_t most_ = 0;
  float reach_ = 0;
  size_t next_ = 0;  // nodes before it were expanded
  std::vector<Node> nodes_;
};

}  // namespace polarquant
