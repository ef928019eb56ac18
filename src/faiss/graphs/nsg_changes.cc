// SPDX-License-Identifier: MIT
#include "src/faiss/graphs/nsg_changes.h"

#include <algorithm>
#include <utility>

#include "src/core/status.h"
#include "src/faiss/graphs/hnsw_graph.h"
#include "src/faiss/index/row_changes.h"

namespace polarquant {
namespace {

/// Nodes that the walk for links of a row that comes keeps, at least.
constexpr int kLeastKept = 40;

int degree_of(const ::faiss::IndexNSG& index) {
  const auto* links = index.nsg.final_graph.get();
  require(index.storage != nullptr && index.ntotal == index.storage->ntotal &&
              index.ntotal == (links == nullptr ? 0 : links->N),
          StatusCode::state_mismatch, "the graph has {} rows, its index {}",
          links == nullptr ? 0 : links->N, index.ntotal);
  return links == nullptr ? 1 : links->K;
}

/// Writes the links from first to end to `to`, without those to the row itself: in HNSW's form they
/// mark equal rows, which NSG has no marks for.
template <typename Link>
void copy_links(const Link* first, const Link* end, Link row, Link* to) {
  const Link* const last = std::find(first, end, -1);
  Link* const to_end = to + (end - first);
  std::fill(std::remove_copy(first, last, to, row), to_end, -1);
}

}  // namespace

NsgAsHnsw::NsgAsHnsw(const ::faiss::IndexNSG& index)
    : graph_(index.storage, static_cast<int>(kLeastHnswLinks)), degree_(degree_of(index)) {
  const auto rows = static_cast<size_t>(index.ntotal);
  const auto degree = static_cast<size_t>(degree_);
  ::faiss::HNSW& hnsw = graph_.hnsw;
  graph_.ntotal = index.ntotal;
  graph_.is_trained = index.is_trained;
  hnsw.assign_probas.assign(1, 1);
  hnsw.cum_nneighbor_per_level = {0, degree_};
  hnsw.efConstruction = std::max(index.nsg.L, kLeastKept);
  hnsw.levels.assign(rows, 1);
  hnsw.offsets.resize(rows + 1);
  for (size_t row = 0; row <= rows; ++row) hnsw.offsets[row] = row * degree;
  hnsw.neighbors.resize(rows * degree);
  for (size_t row = 0; row < rows; ++row) {
    const int* links = index.nsg.final_graph->data + row * degree;
    copy_links(links, links + degree, static_cast<int>(row), hnsw.neighbors.data() + row * degree);
  }
  hnsw.entry_point = rows == 0 ? -1 : index.nsg.enterpoint;
  hnsw.max_level = rows == 0 ? -1 : 0;
}

void NsgAsHnsw::reserve(int64_t rows) {
  links_ = rows == 0 ? nullptr : std::make_shared<Links>(static_cast<int>(rows), degree_);
}

void NsgAsHnsw::write_to(::faiss::IndexNSG& index) noexcept {
  const ::faiss::HNSW& hnsw = graph_.hnsw;
  const auto rows = static_cast<int>(hnsw.levels.size());
  const auto degree = static_cast<size_t>(degree_);
  for (int row = 0; row < rows; ++row) {
    const int* links = hnsw.neighbors.data() + static_cast<size_t>(row) * degree;
    copy_links(links, links + degree, row, links_->data + static_cast<size_t>(row) * degree);
  }
  index.nsg.final_graph = std::move(links_);
  index.nsg.enterpoint = hnsw.entry_point;
  index.nsg.ntotal = rows;
  index.nsg.is_built = index.is_built = rows > 0;
  index.ntotal = rows;
}

NsgRemoval::NsgRemoval(::faiss::IndexNSG& index, const std::vector<uint64_t>& gone)
    : index_(index), copy_(index), removal_(copy_.graph(), gone) {
  copy_.reserve(removal_.kept());
}

void NsgRemoval::apply() noexcept {
  removal_.apply(copy_.graph().hnsw);
  copy_.write_to(index_);
}

void update_nsg(::faiss::IndexNSG& index, idx_t n, const idx_t* positions, const float* x) {
  NsgAsHnsw copy(index);
  copy.reserve(index.ntotal);
  update_graph(copy.graph(), n, positions, x);
  copy.write_to(index);
}

}  // namespace polarquant
