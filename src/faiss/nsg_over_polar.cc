// SPDX-License-Identifier: MIT
#include "src/faiss/nsg_over_polar.h"

#include "src/codec/codec.h"
#include "src/faiss/faiss_error.h"
#include "src/faiss/graph_search.h"
#include "src/faiss/omp_threads.h"
#include "src/faiss/row_checks.h"

namespace polarquant {
namespace {

class View final : public GraphView {
 public:
  explicit View(const ::faiss::NSG& graph) : graph_(graph) {}
  int32_t entry_point() const override { return graph_.enterpoint; }
  std::span<const int32_t> neighbours(int32_t node, int /*level*/) const override {
    const auto degree = static_cast<size_t>(graph_.final_graph->K);
    return {graph_.final_graph->data + static_cast<size_t>(node) * degree, degree};
  }

 private:
  const ::faiss::NSG& graph_;
};

}  // namespace

NSGOverPolar::NSGOverPolar(std::unique_ptr<IndexPolar> rows, int r) : IndexNSG(rows.get(), r) {
  is_trained = rows->is_trained;
  own_fields = true;
  rows.release();
}

void NSGOverPolar::train(idx_t n, const float* x) {
  const OmpThreads omp_threads(0);
  storage->train(n, x);
  is_trained = storage->is_trained;
}

void NSGOverPolar::add(idx_t n, const float* x) {
  with_faiss_errors([&] {
    const OmpThreads omp_threads(0);
    require_rows("add", n, d, x);
    require(is_trained, StatusCode::not_trained, "add: the index is not trained; call train first");
    if (n == 0) return;
    require(ntotal == 0, StatusCode::unsupported,
            "add: the graph is built of all rows at once, and holds {}; reset it first", ntotal);
    // FAISS finds GK neighbours of each row, itself among them, and its graph has no empty ends.
    require(n > GK, StatusCode::bad_argument, "add: {} rows; more than GK, {}, are needed", n, GK);
    IndexNSG::add(n, x);
  });
}

void NSGOverPolar::search(idx_t n, const float* x, idx_t k, float* distances, idx_t* labels,
                          const ::faiss::SearchParameters* params) const {
  with_faiss_errors([&] {
    const GraphParameters parameters = {nsg.search_L, true,
                                        params != nullptr ? params->sel : nullptr};
    search_graph(View(nsg), rows(), n, x, k, parameters, distances, labels);
  });
}

}  // namespace polarquant
