// SPDX-License-Identifier: MIT
#include "src/faiss/graph_over_polar.h"

#include <limits>
#include <vector>

#include "src/codec/codec.h"
#include "src/faiss/faiss_error.h"
#include "src/faiss/graph_search.h"
#include "src/faiss/nsg_graph.h"
#include "src/faiss/row_checks.h"

namespace polarquant {
namespace {

void require_addable(const ::faiss::Index& graph, idx_t n, const float* x) {
  require_rows("add", n, graph.d, x);
  require(graph.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
}

}  // namespace

void HNSWOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_addable(*this, n, x);
    require(n <= std::numeric_limits<storage_idx_t>::max() - ntotal, StatusCode::bad_argument,
            "add: {} rows and {} held are more than a graph's 2^31-1", n, ntotal);
    if (n > 0) IndexHNSW::add(n, x);
  });
}

void HNSWOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                           const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    GraphParameters parameters = {.ef = hnsw.efSearch,
                                  .stops_by_distance = hnsw.check_relative_distance,
                                  .sel = params != nullptr ? params->sel : nullptr};
    if (const auto* given = dynamic_cast<const ::faiss::SearchParametersHNSW*>(params)) {
      parameters.ef = given->efSearch;
      parameters.stops_by_distance = given->check_relative_distance;
    }
    const GraphLinks links = {.entry_point = hnsw.entry_point,
                              .max_level = hnsw.max_level,
                              .links = hnsw.neighbors.data(),
                              .offsets = hnsw.offsets.data(),
                              .level_ends = hnsw.cum_nneighbor_per_level.data()};
    search_graph(links, rows(), n, x, k, parameters, distances, labels);
  });
}

void NSGOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_addable(*this, n, x);
    if (n == 0) return;
    require(ntotal == 0, StatusCode::unsupported,
            "add: the graph is built of all rows at once, and holds {}; reset it first", ntotal);
    require_buildable(*this, n);
    try {
      if (compares_all_rows(*this, n)) {
        add_comparing_all(n, x);
      } else {
        IndexNSG::add(n, x);
      }
    } catch (...) {
      reset();
      throw;
    }
  });
}

void NSGOverPolar::add_comparing_all(idx_t n, const float* x) {
  storage->add(n, x);
  const idx_t k = idx_t{GK} + 1;
  std::vector<float> distances(static_cast<size_t>(n * k));
  std::vector<idx_t> found(distances.size());
  storage->search(n, x, k, distances.data(), found.data());
  std::vector<idx_t> nearest;  // (n, GK), without the row itself
  nearest.reserve(static_cast<size_t>(n * GK));
  for (idx_t row = 0; row < n; ++row) {
    auto neighbour = found.cbegin() + row * k;
    for (int taken = 0; taken < GK; ++neighbour) {
      if (*neighbour == row) continue;
      nearest.push_back(*neighbour);
      ++taken;
    }
  }
  nsg.build(storage, n, {nearest.data(), static_cast<int>(n), GK}, verbose);
  ntotal = n;
  is_built = true;
}

void NSGOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                          const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    const GraphParameters parameters = {.ef = nsg.search_L,
                                        .ef_name = "nsg.search_L",
                                        .sel = params != nullptr ? params->sel : nullptr};
    // A graph without rows has no links.
    const int level_ends[] = {0, nsg.final_graph != nullptr ? nsg.final_graph->K : 0};
    const GraphLinks links = {.entry_point = nsg.enterpoint,
                              .links = nsg.final_graph != nullptr ? nsg.final_graph->data : nullptr,
                              .level_ends = level_ends};
    search_graph(links, rows(), n, x, k, parameters, distances, labels);
  });
}

}  // namespace polarquant
