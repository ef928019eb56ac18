// SPDX-License-Identifier: MIT
// FAISS's HNSW graph over an IndexPolar: FAISS builds the graph, the search is ours
// (graph_search.h).
#pragma once

#include <faiss/IndexHNSW.h>

#include <memory>

#include "polarquant/faiss.h"
#include "src/faiss/faiss_compat.h"

namespace polarquant {

struct HNSWOverPolar final : ::faiss::IndexHNSW {
  /// Owns the storage, which is empty.
  HNSWOverPolar(std::unique_ptr<IndexPolar> rows, int m);

  using IndexHNSW::train;
  /// Trains the storage even where it needs no training; refused once there are rows.
  void train(idx_t n, const float* x) override;
  void add(idx_t n, const float* x) override;
  /// params: SearchParametersHNSW, or others of which only `sel` is read. A search visits nodes
  /// whatever the selector says and returns the best of those that it names.
  void search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
              const ::faiss::SearchParameters* params = nullptr) const override;

  const IndexPolar& rows() const { return *static_cast<const IndexPolar*>(storage); }
};

}  // namespace polarquant
