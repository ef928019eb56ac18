// SPDX-License-Identifier: MIT
// Searches of FAISS's graphs over the rows of an IndexPolar.
//
// It is the search of Malkov and Yashunin (arXiv 1603.09320, algorithms 2 and 5) that FAISS has,
// but for the order in which nodes are looked at: memory is what a graph's search waits for, so
// that two nodes are expanded at a time, and of those the neighbours' signs, then the codes of the
// neighbours whose signs say that they may be good enough, are on their way while the core is with
// the nodes before. Nodes are compared by integer levels (row_scorer.h); what is returned is
// Codec::score of the best.
#pragma once

#include <algorithm>
#include <span>

#include "polarquant/faiss.h"
#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/search_result.h"

namespace polarquant {

/// A graph's links, borrowed, and what its fields say of a search.
struct GraphLinks {
  int32_t entry_point = 0;
  int max_level = 0;
  const int32_t* links = nullptr;   // node after node
  const size_t* offsets = nullptr;  // where those of a node begin; null: at node·level_ends[1]
  /// A node's links on a level l are its numbers level_ends[l] to level_ends[l+1], up to the first
  /// that is negative.
  const int* level_ends = nullptr;
  int64_t ef = 0;                    // nodes that a search keeps, unless it says how many
  const char* ef_name = "efSearch";  // FAISS's, for error texts
  bool stops_by_distance = true;     // else after ef nodes

  std::span<const int32_t> neighbours(int32_t node, int level) const {
    const auto at = static_cast<size_t>(node);
    const int32_t* node_links =
        links + (offsets != nullptr ? offsets[at] : at * static_cast<size_t>(level_ends[1]));
    return {node_links + level_ends[level], node_links + level_ends[level + 1]};
  }
  /// Begins to bring near what neighbours() reads first.
  void fetch_place(int32_t node) const {
    if (offsets != nullptr) __builtin_prefetch(offsets + node);
  }
};

/// Standard deviations that a neighbour's bound stands above what its signs say. Of two sets of
/// 117,659 rows of 384 dimensions, at 2 and 4 bits, two of three neighbours are left out by it, and
/// recall@10 is the same within .0003 as without bounds: the worst node that a search keeps lies
/// well below the k-th best, so that a row wrongly left out is none of these. A search that keeps
/// every row leaves out none. Rows are linked by such searches, too, and searches of the graph find
/// as many of the best within .0007.
inline constexpr float kGraphExactness = 1.5F;

/// Nodes that are expanded at a time. 117,659 rows of 384 dimensions: to .94 of recall@10, one
/// takes a tenth longer than two, three no less; rows are linked in a twentieth more time by one.
inline constexpr int kExpandedTogether = 2;

/// The k best rows of each query, or those within a radius: a walk for the nearest, and from there
/// on all that are linked within it. The filter is of what is returned, not of what is visited.
void search_graph(const GraphLinks& graph, const IndexPolar& rows, const SearchRequest& request,
                  const SearchResult& result);

/// How many nodes such a search keeps of a graph that has so many, and by itself keeps `own`.
inline int64_t nodes_kept(int64_t own, const SearchRequest& request, int64_t nodes) {
  const int64_t ef = request.options.ef_search > 0 ? request.options.ef_search : own;
  return std::min(std::max(ef, request.goal.k), nodes);
}

}  // namespace polarquant
