// SPDX-License-Identifier: MIT
// New links for rows of an HNSW graph that are linked to rows that go: past these, to neighbours of
// theirs.
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/impl/DistanceComputer.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/removed_chains.h"

namespace polarquant {

/// How far rows of a graph's storage are from each other; less is nearer, whatever the metric.
class RowDistances {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  explicit RowDistances(const ::faiss::IndexHNSW& index)
      : computer_(index.storage->get_distance_computer()),
        sign_(index.storage->metric_type == ::faiss::METRIC_INNER_PRODUCT ? -1.0F : 1.0F) {}
  float operator()(Node a, Node b) { return sign_ * computer_->symmetric_dis(a, b); }

 private:
  std::unique_ptr<::faiss::DistanceComputer> computer_;
  float sign_;
};

class GraphRelinker {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;
  /// Told the list of links that a row has on a level from now on.
  using TakeLinks = std::function<void(Node node, int level, std::span<const Node> links)>;

  /// rows, distances: borrowed.
  GraphRelinker(const RemovedChains& rows, RowDistances& distances, TakeLinks take)
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
  RowDistances& distances_;
  TakeLinks take_;
  std::vector<Node> kept_links_;
  std::vector<Node> lost_;
  std::vector<Node> passed_;
};

}  // namespace polarquant
