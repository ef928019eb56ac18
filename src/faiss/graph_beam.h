// SPDX-License-Identifier: MIT
// What a search of a graph keeps: which nodes it has seen, and the best of them so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace polarquant {

/// Nodes seen by the query at hand: a bit each, so that those of a million nodes stay in a
/// second-level cache.
class SeenNodes {
 public:
  void begin(int64_t nodes) {
    words_.assign(static_cast<size_t>((nodes + kWordNodes - 1) / kWordNodes), 0);
  }
  /// Whether the node is new.
  bool insert(int32_t node) {
    uint64_t& word = words_[word_of(node)];
    const uint64_t bit = uint64_t{1} << (node % kWordNodes);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  void fetch(int32_t node) const { __builtin_prefetch(&words_[word_of(node)], 1); }

 private:
  static constexpr int kWordNodes = 64;

  static size_t word_of(int32_t node) { return static_cast<size_t>(node) / kWordNodes; }

  std::vector<uint64_t> words_;
};

/// The `size` best nodes so far, in order, and which of them were expanded. Sorted arrays: nodes
/// that are good enough to enter are few, and a memmove for each is the least work.
class GraphBeam {
 public:
  void begin(int64_t size) {
    size_ = static_cast<size_t>(size);
    keys_.clear();
    nodes_.clear();
    next_ = 0;
  }
  /// Keys above it do not enter.
  float worst_key() const {
    return nodes_.size() == size_ ? keys_.back() : std::numeric_limits<float>::infinity();
  }
  /// Whether the node enters: the smaller key is the better one, the lower id where keys are equal.
  bool insert(float key, int32_t id) {
    if (key > worst_key()) return false;
    size_t at = place_of(key);
    while (at < nodes_.size() && keys_[at] == key && nodes_[at].id < id) ++at;
    if (at == size_) return false;
    if (nodes_.size() == size_) {
      keys_.pop_back();
      nodes_.pop_back();
    }
    keys_.insert(keys_.begin() + static_cast<ptrdiff_t>(at), key);
    nodes_.insert(nodes_.begin() + static_cast<ptrdiff_t>(at), {id, false});
    next_ = std::min(next_, at);
    return true;
  }
  /// Whether there are nodes that were not expanded.
  bool has_next() {
    while (next_ < nodes_.size() && nodes_[next_].expanded) ++next_;
    return next_ < nodes_.size();
  }
  /// The best of them, which counts as expanded then; there is one.
  int32_t expand_next() {
    has_next();
    nodes_[next_].expanded = true;
    return nodes_[next_].id;
  }
  /// visit(node) for those that would be expanded next, up to `count`.
  template <typename Visit>
  void for_next(int count, const Visit& visit) const {
    for (size_t at = next_; at < nodes_.size() && count > 0; ++at) {
      if (nodes_[at].expanded) continue;
      visit(nodes_[at].id);
      --count;
    }
  }

  size_t size() const { return nodes_.size(); }
  int32_t id(size_t at) const { return nodes_[at].id; }

 private:
  struct Node {
    int32_t id;
    bool expanded;
  };

  /// The first place whose key is at least `key`; without branches, which would be as hard to
  /// predict as a search of the array is long.
  size_t place_of(float key) const {
    size_t first = 0;
    for (size_t count = keys_.size(); count > 0;) {
      const size_t half = (count + 1) / 2;
      first += keys_[first + half - 1] < key ? half : 0;
      count -= half;
    }
    return first;
  }

  size_t size_ = 0;
  size_t next_ = 0;  // nodes before it were expanded
  std::vector<float> keys_;
  std::vector<Node> nodes_;
};

}  // namespace polarquant
