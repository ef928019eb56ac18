// SPDX-License-Identifier: MIT
// The links of FAISS's graphs as searches of ours walk them.
#pragma once

#include <faiss/IndexHNSW.h>
#include <faiss/IndexNSG.h>

#include "src/faiss/graphs/graph_search.h"

namespace polarquant {

inline GraphLinks links_of(const ::faiss::IndexHNSW& index) {
  const ::faiss::HNSW& hnsw = index.hnsw;
  return {.entry_point = hnsw.entry_point,
          .max_level = hnsw.max_level,
          .links = hnsw.neighbors.data(),
          .offsets = hnsw.offsets.data(),
          .level_ends = hnsw.cum_nneighbor_per_level.data(),
          .ef = hnsw.efSearch,
          .stops_by_distance = hnsw.check_relative_distance};
}

/// Holds what GraphLinks points to besides; a graph without rows has no links.
class NsgLevels {
 public:
  explicit NsgLevels(const ::faiss::IndexNSG& index)
      : graph_(index.nsg.final_graph.get()),
        entry_point_(index.nsg.enterpoint),
        ef_(index.nsg.search_L) {
    if (graph_ != nullptr) ends_[1] = graph_->K;
  }
  GraphLinks links() const {
    return {.entry_point = entry_point_,
            .links = graph_ != nullptr ? graph_->data : nullptr,
            .level_ends = ends_,
            .ef = ef_,
            .ef_name = "nsg.search_L"};
  }

 private:
  const ::faiss::nsg::Graph<int>* graph_;
  int entry_point_;
  int ef_;
  int ends_[2] = {0, 0};
};

}  // namespace polarquant
