// SPDX-License-Identifier: MIT
// What a search of a graph remembers: which nodes it has seen, and the best of them so far.
#pragma once

#include <algorithm>
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
  bool holds(int32_t node) const { return (words_[word_of(node)] >> (node % kWordNodes) & 1) != 0; }
  /// In the order in which they were seen.
  const std::vector<int32_t>& nodes() const { return seen_; }
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

/// The `size` best nodes so far, in order, and which of them were expanded. A sorted array: few
/// nodes are good enough to enter, and a memmove for each is the least work.
class GraphBeam {
 public:
  void begin(int64_t size) {
    size_ = static_cast<size_t>(size);
    nodes_.clear();
    next_ = 0;
  }
  /// Keys above it do not enter.
  float worst_key() const {
    return nodes_.size() == size_ ? nodes_.back().key : std::numeric_limits<float>::infinity();
  }
  /// Whether the node enters: the smaller key is the better one, the lower id where keys are equal.
  bool insert(float key, int32_t id) {
    if (key > worst_key()) return false;
    size_t at = place_of(key);
    while (at < nodes_.size() && nodes_[at].key == key && nodes_[at].id() < id) ++at;
    if (at == size_) return false;
    if (nodes_.size() == size_) nodes_.pop_back();
    nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(at), {key, id});
    next_ = std::min(next_, at);
    return true;
  }
  /// Whether there are nodes that were not expanded.
  bool has_next() {
    while (next_ < nodes_.size() && nodes_[next_].is_expanded()) ++next_;
    return next_ < nodes_.size();
  }
  /// Of the best of them; there must be one.
  float next_key() {
    has_next();
    return nodes_[next_].key;
  }
  /// The best of them, which then counts as expanded; there must be one.
  int32_t expand_next() {
    has_next();
    const int32_t id = nodes_[next_].id();
    nodes_[next_].marked_id = ~id;
    return id;
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
  float key(size_t at) const { return nodes_[at].key; }

 private:
  struct Node {
    float key;
    int32_t marked_id;  // ~id once it was expanded

    bool is_expanded() const { return marked_id < 0; }
    int32_t id() const { return is_expanded() ? ~marked_id : marked_id; }
  };

  /// The first place whose key is at least `key`; without branches, which are not predictable.
  size_t place_of(float key) const {
    size_t first = 0;
    for (size_t count = nodes_.size(); count > 0;) {
      const size_t half = (count + 1) / 2;
      first += nodes_[first + half - 1].key < key ? half : 0;
      count -= half;
    }
    return first;
  }

  size_t size_ = 0;
  size_t next_ = 0;  // nodes before it were expanded
  std::vector<Node> nodes_;
};

}  // namespace polarquant
