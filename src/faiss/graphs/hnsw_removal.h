// SPDX-License-Identifier: MIT
// Taking rows out of an HNSW graph. What is left is a dense graph of the same form: nodes that were
// linked to rows that go are linked to these rows' neighbours instead, every node that is left can
// be reached from the entry point, and nodes close up in their order.
//
// Marks that searches pass over, as other libraries keep for ever, make the graph slower with every
// row that goes; and rows that come in the place of others, with the links of these, are then not
// found from where they are. Here no link leads to a row that went.
#pragma once

#include <faiss/IndexHNSW.h>

#include <cstdint>
#include <span>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/link_changes.h"

namespace polarquant {

/// All that a removal changes, found while the graph is as it was, so that what fails changes
/// nothing.
class HnswRemoval {
 public:
  /// gone: bit row % 64 of word row / 64, (⌈ntotal / 64⌉), 0 from ntotal on. Cost: a pass over all
  /// links, and about eight distances for each link to a row that goes, of which a row has 42 with
  /// 32 links; memory: eight bytes a row and the links that change.
  /// replaced: rows that go and the rows that come in their places, which have as many levels.
  struct Replaced {
    ::faiss::HNSW::storage_idx_t row;
    ::faiss::HNSW::storage_idx_t by;
  };
  HnswRemoval(const ::faiss::IndexHNSW& index, std::span<const uint64_t> gone,
              std::vector<Replaced> replaced = {});

  int64_t kept() const { return kept_; }
  /// Of the graph that it was made for; its storage's rows are the caller's to remove.
  void apply(::faiss::HNSW& hnsw) const noexcept;

 private:
  friend class RemovalPlanner;
  using Node = ::faiss::HNSW::storage_idx_t;

  LinkChanges changes_;  // in old numbers
  std::vector<Replaced> replaced_;
  std::vector<bool> drops_;       // of the places of rows
  std::vector<Node> new_number_;  // −1 for rows that go
  int64_t kept_ = 0;
  Node entry_point_ = -1;  // an old number
  int max_level_ = -1;
};

}  // namespace polarquant
