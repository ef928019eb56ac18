// SPDX-License-Identifier: MIT
// Distances between rows of a graph's storage, as linking needs them: of a query to rows that a
// walk comes to, and of rows to each other.
#pragma once

#include <faiss/Index.h>
#include <faiss/impl/HNSW.h>

#include <memory>

namespace polarquant {

/// For one thread. Less is nearer, whatever the metric.
class NodeDistances {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  /// By the codes of an index of ours, else by FAISS's distances. The storage is borrowed; of an
  /// index that holds floats it stays valid until these become codes.
  static std::unique_ptr<NodeDistances> make(const ::faiss::Index& storage);
  virtual ~NodeDistances() = default;

  /// x: (d), finite.
  virtual void set_query(const float* x) = 0;
  /// distances[i] of the query to nodes[i].
  virtual void from_query(const Node* nodes, int count, float* distances) = 0;
  /// Begins to fetch what keep_reaching reads of nodes.
  virtual void fetch(const Node* /*nodes*/, int /*count*/) const {}
  /// Leaves out nodes that bounds say are farther from the query than `farthest`, and returns how
  /// many stay, in order.
  virtual int keep_reaching(Node* /*nodes*/, int count, float /*farthest*/) const { return count; }
  /// distances[i] of a node to nodes[i]; symmetric.
  virtual void between(Node node, const Node* nodes, int count, float* distances) = 0;
  float between(Node a, Node b) {
    float distance = 0;
    between(a, &b, 1, &distance);
    return distance;
  }

  // Links are chosen from the nearest on: a node that is nearer to one that was chosen than to the
  // row whose links they are can be reached by way of that one.

  virtual void forget_chosen() = 0;
  /// Whether a chosen node is nearer to this one than `distance`.
  virtual bool is_near_chosen(Node node, float distance) = 0;
  /// Chooses the node that is_near_chosen was last asked for.
  virtual void choose() = 0;
};

}  // namespace polarquant
