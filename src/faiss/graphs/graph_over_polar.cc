// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/graph_over_polar.h"

#include <limits>
#include <vector>

#include "src/codec/codec.h"
#include "src/faiss/foreign/faiss_error.h"
#include "src/faiss/graphs/graph_links.h"
#include "src/faiss/graphs/nsg_builder.h"
#include "src/faiss/graphs/nsg_graph.h"
#include "src/faiss/graphs/record_upkeep.h"
#include "src/faiss/graphs/single_removal.h"
#include "src/faiss/index/range_result.h"
#include "src/faiss/index/row_changes.h"
#include "src/faiss/index/row_checks.h"
#include "src/faiss/index/search_parameters.h"

namespace polarquant {
namespace {

void require_addable(const ::faiss::Index& graph, idx_t n, const float* x) {
  require_rows("add", n, graph.d, x);
  require(graph.is_trained, StatusCode::not_trained,
          "add: the index is not trained; call train first");
}

}  // namespace

void HNSWOverPolar::train(idx_t n, const float* x) {
  with_faiss_errors([&] {
    RecordUpkeep records(*this);  // rows held as floats become codes
    GraphOverPolar::train(n, x);
    records.write_all();
  });
}

void HNSWOverPolar::lay_out_records() {
  with_faiss_errors([&] {
    auto& stored = dynamic_cast<IndexPolar&>(*storage);
    stored.lay_out_records(hnsw.nb_neighbors(0));
    RecordUpkeep(*this).write_all();
  });
}

void HNSWOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    require_addable(*this, n, x);
    require(n <= std::numeric_limits<storage_idx_t>::max() - ntotal, StatusCode::bad_argument,
            "add: {} rows and {} held are more than a graph's 2^31-1", n, ntotal);
    if (n == 0) return;
    RecordUpkeep records(*this);
    add_to_graph(*this, n, x);
    records.write_changed(ntotal - n);
  });
}

size_t HNSWOverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] {
    const CallThreads call_threads(0);
    return remove_rows(*this, sel);
  });
}

std::optional<idx_t> HNSWOverPolar::remove_row(idx_t row) {
  auto& stored = dynamic_cast<IndexPolar&>(*storage);
  stored.require_removable("remove");
  incoming_links.require_of(hnsw);
  SingleRemoval removal(*this, incoming_links, static_cast<storage_idx_t>(row));
  if (!removal.is_possible()) return std::nullopt;
  RecordUpkeep records(*this);
  if (has_records()) removal.note_changed(&changed_nodes, &renumbered_nodes);
  stored.remove_row(row, removal.heir());
  removal.apply(hnsw, incoming_links);
  ntotal = stored.ntotal;
  records.write_changed(ntotal);
  return removal.heir();
}

template <>
void GraphOverPolar<::faiss::IndexHNSW>::search_nodes(const SearchRequest& request,
                                                      const SearchResult& result,
                                                      const GivenParameters* given) const {
  GraphLinks links = links_of(*this);
  if (given != nullptr) links.stops_by_distance = given->check_relative_distance;
  search_graph(links, rows(), request, result);
}

template <>
void GraphOverPolar<::faiss::IndexNSG>::search_nodes(const SearchRequest& request,
                                                     const SearchResult& result,
                                                     const GivenParameters* given) const {
  const NsgLevels levels(*this);
  GraphLinks links = levels.links();
  if (given != nullptr) links.stops_by_distance = given->check_relative_distance;
  search_graph(links, rows(), request, result);
}

template <typename FaissGraph>
void GraphOverPolar<FaissGraph>::search(idx_t n, const float* x, idx_t k, float* distances,
                                        idx_t* labels,
                                        const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    search_nodes(make_request(n, x, SearchGoal::best(k), params, kDefaultExactness),
                 {distances, labels}, dynamic_cast<const GivenParameters*>(params));
  });
}

template <typename FaissGraph>
void GraphOverPolar<FaissGraph>::range_search(idx_t n, const float* x, float radius,
                                              ::faiss::RangeSearchResult* result,
                                              const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    require_range_result(n, result);
    RangeFound found;
    search_nodes(make_request(n, x, SearchGoal::within(radius), params, kDefaultExactness), &found,
                 dynamic_cast<const GivenParameters*>(params));
    write_range_result(found, result);
  });
}

template struct GraphOverPolar<::faiss::IndexHNSW>;
template struct GraphOverPolar<::faiss::IndexNSG>;

size_t NSGOverPolar::remove_ids(const ::faiss::IDSelector& sel) {
  return with_faiss_errors([&] {
    const CallThreads call_threads(0);
    return remove_rows(*this, sel);
  });
}

void NSGOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const CallThreads call_threads(0);
    require_addable(*this, n, x);
    if (n == 0) return;
    require(ntotal == 0, StatusCode::unsupported,
            "add: the graph is built of all rows at once, and holds {}; reset it first", ntotal);
    require_buildable(*this, n);
    build_nsg(*this, n, x);
  });
}

}  // namespace polarquant
