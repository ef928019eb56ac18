// SPDX-License-Identifier: MIT
// Lists of links of an HNSW graph that are to become others, found before any of them changes.
#pragma once

#include <faiss/impl/HNSW.h>

#include <cstddef>
#include <span>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

class LinkChanges {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  struct Change {
    Node node;
    int level;
    size_t begin;  // of its links among those of all changes
    size_t count;
  };

  size_t size() const { return changes_.size(); }
  const std::vector<Change>& all() const { return changes_; }
  std::span<const Node> links(const Change& change) const {
    return {links_.data() + change.begin, change.count};
  }
  /// The links of a row on a level from now on; what was told of them before does not count.
  void add(Node node, int level, std::span<const Node> links) {
    changes_.push_back({node, level, links_.size(), links.size()});
    links_.insert(links_.end(), links.begin(), links.end());
  }
  /// Calls set(place, link) for each place of the lists that change; link is −1 after the last one.
  template <typename Set>
  void write(::faiss::HNSW& hnsw, const Set& set) const noexcept {
    for (const Change& change : changes_) {
      size_t begin = 0;
      size_t end = 0;
      hnsw.neighbor_range(change.node, change.level, &begin, &end);
      const std::span<const Node> links = this->links(change);
      for (size_t i = 0; i < end - begin; ++i)
        set(hnsw.neighbors.data()[begin + i], i < links.size() ? links[i] : Node{-1});
    }
  }

 private:
  std::vector<Change> changes_;
  std::vector<Node> links_;
};

}  // namespace polarquant
