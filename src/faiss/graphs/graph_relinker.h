// SPDX-License-Identifier: MIT
// New links for rows of an HNSW graph that are linked to rows that go: past these, to neighbours of
// theirs.
#pragma once

#include <faiss/IndexHNSW.h>

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/node_distances.h"
#include "src/faiss/graphs/removed_chains.h"

namespace polarquant {

class GraphRelinker {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;
  /// Told the list of links that a row has on a level from now on.
  using TakeLinks = std::function<void(Node node, int level, std::span<const Node> links)>;

  /// rows, distances: borrowed.
  GraphRelinker(const RemovedChains& rows, NodeDistances& distances, TakeLinks take)
      : rows_(rows), distances_(distances), take_(std::move(take)) {}

  /// Finds links for a row that stays, where it is linked to rows that go. Cost: about eight
  /// distances for each such link.
  void relink(Node node, int level);

 private:
  void relink_as(Node node, Node owner, int level);
  bool is_kept_link(Node node) const;
  void link_past(Node node, Node lost, int level);
  void take(Node node, int level, const std::vector<Node>& links);

  const RemovedChains& rows_;
  NodeDistances& distances_;
  TakeLinks take_;
  std::vector<Node> kept_links_;
  std::vector<Node> lost_;
  std::vector<Node> passed_;
};

}  // namespace polarquant
