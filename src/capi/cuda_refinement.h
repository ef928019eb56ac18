// SPDX-License-Identifier: MIT
// The second step of a refinement whose first one is searched on devices: rows are scored again on
// the devices, where these have their codes, else on the host.
#pragma once

#include <faiss/IndexRefine.h>

#include <cstdint>
#include <memory>

#include "src/core/rows_state.h"
#include "src/device/cuda_index.h"
#include "src/device/cuda_places.h"
#include "src/faiss/index/refine_rows.h"

namespace polarquant::capi {

class CudaRefinement {
 public:
  /// Copies the refining index, to the devices if its codes are searched there and fit.
  CudaRefinement(const ::faiss::IndexRefine& index, const device::CudaPlaces& places);

  /// Whether nothing but added rows is missing, on the devices.
  bool takes_rows(const ::faiss::IndexRefine& index) const;
  /// Adds these, which nothing finds until the first index has them, too; that then ends with
  /// follow().
  void add_rows(const ::faiss::IndexRefine& index);
  void follow(const ::faiss::IndexRefine& index) { refinement_ = refinement_of(index); }

  /// The k best of what `base`, a copy of the first index, finds.
  void search(const device::CudaIndex& base, const SearchRequest& request, void* stream,
              const SearchResult& result) const;
  /// On the devices.
  size_t memory_bytes() const { return codes_ != nullptr ? codes_->memory_bytes() : 0; }

 private:
  Refinement refinement_;
  std::unique_ptr<device::CudaIndex> codes_;  // or:
  std::unique_ptr<::faiss::Index> rows_;
  uint64_t copied_rows_ = kUnknownRows;  // the held_rows_state() of codes_, as it was then
};

}  // namespace polarquant::capi
