// SPDX-License-Identifier: MIT
// Rows that go from an NSG graph, and rows that come in the place of others: by the ways of HNSW,
// of which NSG's links are a lowest level. No row is marked, and none is walked that went: rows
// that were linked to it are linked to its neighbours, every row that is left can be reached from
// the entry point, and rows close up in their order (hnsw_removal.h). What a graph loses by it are
// far links, which a new one has; rebuild_nsg (nsg_builder.h) makes it one.
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/graphs/hnsw_removal.h"

namespace polarquant {

/// A copy of the links in HNSW's form, over the same storage.
class NsgAsHnsw {
 public:
  explicit NsgAsHnsw(const ::faiss::IndexNSG& index);
  ::faiss::IndexHNSW& graph() { return graph_; }
  /// Takes the memory for links of so many rows in NSG's form.
  void reserve(int64_t rows);
  /// After reserve, for as many rows as the copy has now.
  void write_to(::faiss::IndexNSG& index) noexcept;

 private:
  using Links = decltype(::faiss::NSG::final_graph)::element_type;

  ::faiss::IndexHNSW graph_;
  int degree_;
  std::shared_ptr<Links> links_;
};

/// All that may fail is done by the constructor; the storage's rows are the caller's to remove.
class NsgRemoval {
 public:
  /// gone: as for HnswRemoval, some of them 1. Cost and memory: those of HnswRemoval, and twice the
  /// links.
  NsgRemoval(::faiss::IndexNSG& index, const std::vector<uint64_t>& gone);
  void apply() noexcept;

 private:
  ::faiss::IndexNSG& index_;
  NsgAsHnsw copy_;
  HnswRemoval removal_;
};

/// As update_graph (row_changes.h).
void update_nsg(::faiss::IndexNSG& index, idx_t n, const idx_t* positions, const float* x);

}  // namespace polarquant
