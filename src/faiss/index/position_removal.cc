// SPDX-License-Identifier: MIT
#include "src/faiss/index/position_removal.h"

#include <faiss/IndexFlatCodes.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/faiss/graphs/graph_over_polar.h"
#include "src/faiss/index/selector_filter.h"
#include "src/scan/layout/row_removal.h"

namespace polarquant {
namespace {

class GoneRows final : public ::faiss::IDSelector {
 public:
  explicit GoneRows(const std::vector<uint64_t>& gone) : gone_(gone) {}
  bool is_member(idx_t row) const override { return is_removed(gone_, row); }

 private:
  const std::vector<uint64_t>& gone_;
};

}  // namespace

PositionRemoval::PositionRemoval(::faiss::Index& index, const std::vector<uint64_t>& gone)
    : index_(index),
      gone_(gone),
      any_goes_(std::any_of(gone.begin(), gone.end(), [](uint64_t word) { return word != 0; })) {
  if (auto* both = dynamic_cast<::faiss::IndexRefine*>(&index)) {
    parts_.reserve(2);
    parts_.emplace_back(*both->base_index, gone);
    parts_.emplace_back(*both->refine_index, gone);
  } else if (auto* chain = dynamic_cast<::faiss::IndexPreTransform*>(&index)) {
    parts_.emplace_back(*chain->index, gone);
  } else if (auto* graph = dynamic_cast<::faiss::IndexHNSW*>(&index)) {
    require(graph->storage != nullptr && graph->ntotal == graph->storage->ntotal,
            StatusCode::state_mismatch, "remove: the graph has {} rows, its storage {}",
            graph->ntotal, graph->storage == nullptr ? 0 : graph->storage->ntotal);
    if (any_goes_) links_ = std::make_unique<HnswRemoval>(*graph, gone);
    if (auto* ours = dynamic_cast<HNSWOverPolar*>(graph); ours != nullptr && any_goes_)
      records_ = std::make_unique<RecordUpkeep>(*ours);
    parts_.emplace_back(*graph->storage, gone);
  } else if (auto* nsg = dynamic_cast<NSGOverPolar*>(&index)) {
    if (any_goes_) nsg_ = std::make_unique<NsgRemoval>(*nsg, gone);
    parts_.emplace_back(*nsg->storage, gone);
  } else if (auto* ivf = dynamic_cast<::faiss::IndexIVF*>(&index)) {
    lists_ = std::make_unique<ListPositionRemoval>(*ivf, gone);
  } else if (auto* polar = dynamic_cast<IndexPolar*>(&index)) {
    polar->require_removable("remove");
    require(polar->ids().empty(), StatusCode::unsupported,
            "remove: rows of a part have ids of their own");
  } else {
    require(dynamic_cast<::faiss::IndexFlatCodes*>(&index) != nullptr, StatusCode::unsupported,
            "remove: rows of indexes of this kind, or of a part of it, cannot be removed");
  }
}

void PositionRemoval::apply() noexcept {
  if (!any_goes_) return;
  for (PositionRemoval& part : parts_) part.apply();
  if (auto* polar = dynamic_cast<IndexPolar*>(&index_)) {
    polar->remove_positions(gone_);
  } else if (lists_ != nullptr) {
    lists_->apply();
  } else if (parts_.empty()) {
    index_.remove_ids(GoneRows(gone_));
  } else {
    if (links_ != nullptr) links_->apply(dynamic_cast<::faiss::IndexHNSW&>(index_).hnsw);
    if (auto* graph = dynamic_cast<HNSWOverPolar*>(&index_)) graph->incoming_links.forget();
    if (nsg_ != nullptr) nsg_->apply();
    index_.ntotal = parts_.front().index_.ntotal;
    if (records_ != nullptr) records_->write_all();
  }
}

size_t remove_selected_positions(::faiss::Index& index, const ::faiss::IDSelector& sel) {
  const std::vector<uint64_t> gone = selected_rows(sel, index.ntotal);
  const idx_t before = index.ntotal;
  PositionRemoval(index, gone).apply();
  return static_cast<size_t>(before - index.ntotal);
}

}  // namespace polarquant
