// SPDX-License-Identifier: MIT
// The links of an HNSW graph some of whose rows go: whether a row is one, and which row stands in
// for it. Of equal rows (hnsw_links.h) the first has links to other rows, and the next one that
// stays takes its place.
#pragma once

#include <faiss/impl/HNSW.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/faiss/graphs/hnsw_graph.h"

namespace polarquant {

/// Whether a row with these links on level 0 is one of a chain, and not its first.
inline bool is_chained(::faiss::HNSW::storage_idx_t node,
                       std::span<const ::faiss::HNSW::storage_idx_t> links) {
  return links.size() > kFirst && links[kSelf] == node;
}

class RemovedChains {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  /// Both are borrowed.
  RemovedChains(const ::faiss::HNSW& hnsw, std::span<const uint64_t> gone)
      : hnsw_(hnsw), gone_(gone) {}

  Node count() const { return static_cast<Node>(hnsw_.levels.size()); }
  bool is_gone(Node node) const {
    return (gone_[static_cast<size_t>(node) / 64] >> node % 64 & 1) != 0;
  }
  /// A row's links on a level it has; those of rows that go, too.
  std::span<const Node> links(Node node, int level) const {
    const Node* first = place(node, level);
    return {first, std::find(first, first + capacity(level), -1)};
  }
  /// Whether a walk can begin on levels above the lowest: not in what NSG's links make.
  bool has_levels() const { return hnsw_.cum_nneighbor_per_level.size() > 2; }
  /// How many links rows may have there.
  size_t capacity(int level) const {
    const auto at = static_cast<size_t>(level);
    return static_cast<size_t>(hnsw_.cum_nneighbor_per_level[at + 1] -
                               hnsw_.cum_nneighbor_per_level[at]);
  }

  bool is_chained(Node node) const { return capacity(0) > kNext && place(node, 0)[kSelf] == node; }
  bool is_chain_of(Node node, Node first) const {
    return is_chained(node) && first_of_chain(node) == first;
  }
  Node first_of_chain(Node node) const { return place(node, 0)[kFirst]; }
  Node chain_link(Node node) const { return place(node, 0)[kNext]; }
  /// The next one of its chain that stays; −1 for none.
  Node next_in_chain(Node node) const { return skip_gone(chain_link(node)); }
  /// Where the first one's link to its chain leads, if that is `link`, when `first` is the first:
  /// to the first that stays of the others.
  Node chain_after(Node link, Node first) const {
    const Node next = skip_gone(link);
    return next == first ? next_in_chain(next) : next;
  }

  /// The row that links to this one lead to: itself, or on level 0 one of equal rows that stays; −1
  /// for none.
  Node stand_in(Node node, int level) const {
    if (!is_gone(node)) return node;
    if (level > 0) return -1;
    if (is_chained(node)) return stand_in(first_of_chain(node), 0);
    for (const Node link : links(node, 0))
      if (is_chain_of(link, node)) return skip_gone(link);
    return -1;
  }

 private:
  const Node* place(Node node, int level) const {
    return hnsw_.neighbors.data() + hnsw_.offsets[static_cast<size_t>(node)] +
           hnsw_.cum_nneighbor_per_level[static_cast<size_t>(level)];
  }
  Node skip_gone(Node node) const {
    while (node >= 0 && is_gone(node)) node = is_chained(node) ? chain_link(node) : -1;
    return node;
  }

  const ::faiss::HNSW& hnsw_;
  std::span<const uint64_t> gone_;
};

}  // namespace polarquant
