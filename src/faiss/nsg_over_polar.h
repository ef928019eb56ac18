// SPDX-License-Identifier: MIT
// FAISS's NSG graph over an IndexPolar: FAISS builds the graph, the search is ours
// (graph_search.h).
#pragma once

#include <faiss/IndexNSG.h>

#include <memory>

#include "polarquant/faiss.h"
#include "src/faiss/faiss_compat.h"

namespace polarquant {

struct NSGOverPolar final : ::faiss::IndexNSG {
  /// Owns the storage, which is empty.
  NSGOverPolar(std::unique_ptr<IndexPolar> rows, int r);

  using IndexNSG::train;
  /// Trains the storage even where it needs no training; refused once there are rows.
  void train(idx_t n, const float* x) override;
  /// All rows at once: FAISS builds the graph of them.
  void add(idx_t n, const float* x) override;
  /// Of params only `sel` is read: a search visits nodes whatever the selector says and returns the
  /// best of those that it names. nsg.search_L is how many nodes a search keeps.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;

  const IndexPolar& rows() const { return *static_cast<const IndexPolar*>(storage); }
};

}  // namespace polarquant
