// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/graph_over_polar.h"

#include <limits>
#include <vector>

#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/graphs/graph_links.h"
#include "src/faiss/graphs/nsg_builder.h"
#include "src/faiss/graphs/nsg_graph.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"

namespace polarquant {
namespace {

void require_addable(const ::faiss::Index& graph, idx_t n, const float* x) {
  require_rows("add", n, graph.d, x);
  require(graph.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
}

GraphParameters with_given(GraphParameters parameters, const ::faiss::SearchParameters* params) {
  if (params != nullptr) parameters.sel = params->sel;
  if (const auto* given = dynamic_cast<const ::faiss::SearchParametersHNSW*>(params)) {
    parameters.ef = given->efSearch;
    parameters.ef_name = "efSearch";
    parameters.stops_by_distance = given->check_relative_distance;
  }
  return parameters;
}

}  // namespace

void HNSWOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_addable(*this, n, x);
    require(n <= std::numeric_limits<storage_idx_t>::max() - ntotal, StatusCode::bad_argument,
            "add: {} rows and {} held are more than a graph's 2^31-1", n, ntotal);
    if (n > 0) add_to_graph(*this, n, x);
  });
}

template <>
GraphParameters GraphOverPolar<::faiss::IndexHNSW>::own_parameters() const {
  return {.ef = hnsw.efSearch, .stops_by_distance = hnsw.check_relative_distance};
}

template <>
GraphParameters GraphOverPolar<::faiss::IndexNSG>::own_parameters() const {
  return {.ef = nsg.search_L, .ef_name = "nsg.search_L"};
}

template <>
void GraphOverPolar<::faiss::IndexHNSW>::search_nodes(idx_t n, const float* x, idx_t k,
                                                      const GraphParameters& parameters,
                                                      float* distances, idx_t* labels) const {
  search_graph(links_of(*this), rows(), n, x, k, parameters, distances, labels);
}

template <>
void GraphOverPolar<::faiss::IndexNSG>::search_nodes(idx_t n, const float* x, idx_t k,
                                                     const GraphParameters& parameters,
                                                     float* distances, idx_t* labels) const {
  const NsgLevels levels(*this);
  search_graph(levels.links(), rows(), n, x, k, parameters, distances, labels);
}

void HNSWOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                           const ::faiss::SearchParameters* params) const {
  with_faiss_errors(
      [&] { search_nodes(n, x, k, with_given(own_parameters(), params), distances, labels); });
}

void NSGOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_addable(*this, n, x);
    if (n == 0) return;
    require(ntotal == 0, StatusCode::unsupported,
            "add: the graph is built of all rows at once, and holds {}; reset it first", ntotal);
    require_buildable(*this, n);
    build_nsg(*this, n, x);
  });
}

void NSGOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                          const ::faiss::SearchParameters* params) const {
  with_faiss_errors(
      [&] { search_nodes(n, x, k, with_given(own_parameters(), params), distances, labels); });
}

}  // namespace polarquant
