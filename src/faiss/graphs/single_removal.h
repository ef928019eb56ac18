// SPDX-License-Identifier: MIT
// Taking one row out of an HNSW graph at the cost of its neighbourhood: the rows that link to it
// are looked for near it, and as many are known to be there (incoming_links.h). Another row takes
// its place, and the last one that row's, where hnsw_removal.h, which passes over all links, keeps
// the order of rows: two rows get other numbers, so that no more than the rows near them change.
//
// Every row can still be reached from the entry point. What was reached by way of the row was
// reached from a row that links to it, by one that it links to; and all of the former are shown to
// lead to one row near it, which leads to all of the latter.
#pragma once

#include <faiss/IndexHNSW.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/incoming_links.h"
#include "src/faiss/graphs/link_changes.h"

namespace polarquant {

/// All that the removal changes, found while the graph is as it was, so that what fails changes
/// nothing.
class SingleRemoval {
 public:
  using Node = ::faiss::HNSW::storage_idx_t;

  /// incoming: of this graph.
  SingleRemoval(const ::faiss::IndexHNSW& index, const IncomingLinks& incoming, Node row);

  /// False where a neighbourhood does not tell enough: the entry point of searches goes, or only a
  /// pass over all links would show that every row can be reached.
  bool is_possible() const { return is_possible_; }
  /// The row that takes the place, the last one with as many levels.
  Node heir() const { return heir_; }
  /// Of the graph that it was made for, once; the storage's rows are the caller's to move.
  void apply(::faiss::HNSW& hnsw, IncomingLinks& incoming) noexcept;
  /// Adds the rows that have other links afterwards to `nodes`, and those that link to rows of
  /// other numbers to `renumbered`, in the numbers that they have then; and gives those that are
  /// there the numbers that they have then.
  void note_changed(std::vector<Node>* nodes, std::vector<Node>* renumbered) const;

 private:
  friend class SingleRemovalPlanner;

  /// A row that gets another number, and those that may link to it, holders_[begin … end).
  struct Move {
    Node from;
    Node to;
    size_t begin;
    size_t end;
  };

  struct Link {
    Node from;
    Node to;
  };

  void write_links(::faiss::HNSW& hnsw, IncomingLinks& incoming) const noexcept;
  void renumber(::faiss::HNSW& hnsw) const noexcept;
  void move_rows(::faiss::HNSW& hnsw) noexcept;
  void note_far_links(const ::faiss::HNSW& hnsw, IncomingLinks& incoming) const noexcept;

  Node row_;
  Node heir_ = -1;
  Node last_ = -1;
  bool is_possible_ = false;
  LinkChanges changes_;  // in old numbers
  std::vector<Move> moves_;
  std::vector<Node> holders_;
  std::vector<Node> last_links_;  // space for the last row's, on all its levels
  std::vector<Link> one_way_;     // that may have none back from now on, in old numbers
};

}  // namespace polarquant
