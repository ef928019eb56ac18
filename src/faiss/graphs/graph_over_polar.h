// SPDX-License-Identifier: MIT
// FAISS's graphs over an IndexPolar: built by FAISS's algorithms in
// loops of ours (hnsw_links.h, nsg_builder.h), searched by a search of ours (graph_search.h).
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>

#include <memory>
#include <optional>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/call_threads.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/graph_search.h"
#include "src/faiss/graphs/incoming_links.h"

namespace polarquant {

/// What both have: an IndexPolar as storage, which they own, and its training.
template <typename FaissGraph>
struct GraphOverPolar : FaissGraph {
  /// rows: empty. links: FAISS's M of HNSW, R of NSG.
  GraphOverPolar(std::unique_ptr<IndexPolar> rows, int links) : FaissGraph(rows.get(), links) {
    this->is_trained = rows->is_trained;
    this->own_fields = true;
    static_cast<void>(rows.release());  // the base owns it
  }

  using FaissGraph::train;
  /// Trains the storage even where it needs no training; refused once there are rows.
  void train(idx_t n, const float* x) override {
    const CallThreads call_threads(0);
    this->storage->train(n, x);
    this->is_trained = this->storage->is_trained;
  }

  const IndexPolar& rows() const { return *static_cast<const IndexPolar*>(this->storage); }
  /// params: SearchParametersHNSW, whose efSearch is how many nodes a search keeps in the place of
  /// hnsw.efSearch or nsg.search_L, or others of which only `sel` is read. A search visits nodes
  /// whatever the selector says and returns the best of those that it names.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;
  /// All rows within a radius that a walk for the nearest, and then from each row within it to its
  /// neighbours, comes to: inner products above it, squared distances below it. params as for
  /// search.
  void range_search(idx_t n, const float* x, float radius, ::faiss::RangeSearchResult* result,
                    const ::faiss::SearchParameters* params = nullptr) const override;
  /// The same, as the library asks for it.
  using GivenParameters = ::faiss::SearchParametersHNSW;
  void search_nodes(const SearchRequest& request, const SearchResult& result,
                    const GivenParameters* given = nullptr) const;
};

struct HNSWOverPolar final : GraphOverPolar<::faiss::IndexHNSW> {
  using GraphOverPolar::GraphOverPolar;

  using GraphOverPolar::train;
  void train(idx_t n, const float* x) override;
  void add(idx_t n, const float* x) override;
  /// Rows that are left close up in their order (hnsw_removal.h).
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
  /// Takes out one row, in whose place a later one comes, which is returned, and in its place the
  /// last one. Costs no more than the rows near them. None, and nothing has changed, where
  /// remove_ids is needed (SingleRemoval::is_possible).
  std::optional<idx_t> remove_row(idx_t row);

  /// Whether rows lie in records with their links ("HNSW8x"), which searches then read alone.
  bool has_records() const { return rows().options().record_links > 0; }
  /// From now on they do, which must be single ones of a codec with link estimates.
  void lay_out_records();

  /// Known from the first remove_row on.
  IncomingLinks incoming_links;
  /// Nodes whose links the change at hand has changed, where there are records (record_upkeep.h).
  std::vector<storage_idx_t> changed_nodes;
  /// And those that link to the same rows, which have other numbers.
  std::vector<storage_idx_t> renumbered_nodes;
};

inline bool lies_in_records(const ::faiss::Index& index) {
  const auto* graph = dynamic_cast<const HNSWOverPolar*>(&index);
  return graph != nullptr && graph->has_records();
}

struct NSGOverPolar final : GraphOverPolar<::faiss::IndexNSG> {
  using GraphOverPolar::GraphOverPolar;

  /// All rows at once: the graph is built of them (nsg_builder.h). The index is empty after an
  /// error.
  void add(idx_t n, const float* x) override;
  /// Rows that are left close up in their order (nsg_changes.h).
  size_t remove_ids(const ::faiss::IDSelector& sel) override;
};

}  // namespace polarquant
