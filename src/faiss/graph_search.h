// SPDX-License-Identifier: MIT
// Searches of FAISS's graphs over the rows of an IndexPolar.
//
// It is the search of Malkov and Yashunin (arXiv 1603.09320, algorithms 2 and 5) that FAISS has,
// with the neighbours of a node scored together: their codes are on the way to the core before the
// first is needed, and four are multiplied at a time. Nodes are compared by integer levels
// (row_scorer.h); what is returned is Codec::score of the best.
#pragma once

#include <span>

#include "polarquant/faiss.h"
#include "src/faiss/faiss_compat.h"

namespace polarquant {

class GraphView {
 public:
  virtual ~GraphView() = default;
  virtual int32_t entry_point() const = 0;
  virtual int max_level() const { return 0; }
  /// Up to the first that is negative.
  virtual std::span<const int32_t> neighbours(int32_t node, int level) const = 0;
};

struct GraphParameters {
  int64_t ef;                                // nodes that a search keeps
  const char* ef_name = "efSearch";          // FAISS's, for error texts
  bool stops_by_distance = true;             // else after ef nodes
  const ::faiss::IDSelector* sel = nullptr;  // of what is returned, not of what is visited
};

/// As faiss::Index::search.
void search_graph(const GraphView& graph, const IndexPolar& rows, idx_t n, const float* x, idx_t k,
                  GraphParameters parameters, float* distances, idx_t* labels);

}  // namespace polarquant
