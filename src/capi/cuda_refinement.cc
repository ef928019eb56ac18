// SPDX-License-Identifier: MIT
#include "src/capi/cuda_refinement.h"

#include "polarquant/faiss.h"
#include "src/core/status.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/stores/row_store.h"

namespace polarquant::capi {
namespace {

/// Null where the rows are to be scored on the host: those without codes that devices have, those
/// that are still floats, and those that do not fit beside the first index.
std::unique_ptr<device::CudaIndex> copy_codes(const ::faiss::Index& index,
                                              const device::CudaPlaces& places) {
  const auto* polar = dynamic_cast<const IndexPolar*>(&index);
  if (polar == nullptr || !BlockLayout::supports(polar->codec()) || polar->rows_as_floats() > 0 ||
      polar->codec().centroids() != nullptr || !polar->ids().empty())
    return nullptr;
  try {
    const std::vector<BlockRows> spans = polar->codes().spans();
    return std::make_unique<device::CudaIndex>(polar->codec(), spans, polar->ids(), places);
  } catch (const Error& error) {
    if (error.code() != StatusCode::out_of_memory) throw;
    return nullptr;
  }
}

}  // namespace

CudaRefinement::CudaRefinement(const ::faiss::IndexRefine& index, const device::CudaPlaces& places)
    : refinement_(refinement_of(index)), codes_(copy_codes(*index.refine_index, places)) {
  if (codes_ == nullptr) {
    rows_ = clone_index(*index.refine_index);
  } else {
    copied_rows_ = dynamic_cast<const IndexPolar&>(*index.refine_index).codes().held_rows_state();
  }
}

bool CudaRefinement::takes_rows(const ::faiss::IndexRefine& index) const {
  const auto* polar = dynamic_cast<const IndexPolar*>(index.refine_index);
  return codes_ != nullptr && codes_->takes_rows() && polar != nullptr &&
         copied_rows_ != kUnknownRows && polar->codes().held_rows_state() == copied_rows_;
}

void CudaRefinement::add_rows(const ::faiss::IndexRefine& index) {
  const auto& polar = dynamic_cast<const IndexPolar&>(*index.refine_index);
  codes_->add_rows(polar.codes().spans(), polar.ids());
}

void CudaRefinement::search(const device::CudaIndex& base, const SearchRequest& request,
                            void* stream, const SearchResult& result) const {
  refine_rows(
      refinement_, request, result,
      [&](const SearchRequest& found, const SearchResult& to) { base.search(found, stream, to); },
      [&](const SearchRequest& found, const idx_t* rows, float* scores) {
        if (codes_ != nullptr) {
          codes_->score_rows(found, rows, stream, scores);
        } else {
          score_candidates(*rows_, found, rows, scores);
        }
      });
}

}  // namespace polarquant::capi
