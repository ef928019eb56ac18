// SPDX-License-Identifier: MIT
#include "src/faiss/hnsw_over_polar.h"

#include <limits>

#include "src/codec/codec.h"
#include "src/faiss/faiss_error.h"
#include "src/faiss/graph_search.h"
#include "src/faiss/omp_threads.h"
#include "src/faiss/row_checks.h"

namespace polarquant {
namespace {

class View final : public GraphView {
 public:
  explicit View(const ::faiss::HNSW& graph) : graph_(graph) {}
  int32_t entry_point() const override { return graph_.entry_point; }
  int max_level() const override { return graph_.max_level; }
  std::span<const int32_t> neighbours(int32_t node, int level) const override {
    size_t begin;
    size_t end;
    graph_.neighbor_range(node, level, &begin, &end);
    return {graph_.neighbors.data() + begin, end - begin};
  }

 private:
  const ::faiss::HNSW& graph_;
};

}  // namespace

HNSWOverPolar::HNSWOverPolar(std::unique_ptr<IndexPolar> rows, int m) : IndexHNSW(rows.get(), m) {
  is_trained = rows->is_trained;
  own_fields = true;
  rows.release();
}

void HNSWOverPolar::train(idx_t n, const float* x) {
  const OmpThreads omp_threads(0);
  storage->train(n, x);
  is_trained = storage->is_trained;
}

void HNSWOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_rows("add", n, d, x);
    require(is_trained, StatusCode::not_trained, "add: the index is not trained; call train first");
    require(n <= std::numeric_limits<storage_idx_t>::max() - ntotal, StatusCode::bad_argument,
            "add: {} rows and {} held are more than a graph's 2^31-1", n, ntotal);
    if (n > 0) IndexHNSW::add(n, x);
  });
}

void HNSWOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                           const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    GraphParameters parameters = {hnsw.efSearch, hnsw.check_relative_distance,
                                  params != nullptr ? params->sel : nullptr};
    if (const auto* given = dynamic_cast<const ::faiss::SearchParametersHNSW*>(params)) {
      parameters.ef = given->efSearch;
      parameters.stops_by_distance = given->check_relative_distance;
    }
    search_graph(View(hnsw), rows(), n, x, k, parameters, distances, labels);
  });
}

}  // namespace polarquant
