// SPDX-License-Identifier: MIT
// The second step of a refinement whose first one is searched on devices: rows are scored again on
// the devices, where these have their codes, else on the host.
#pragma once

#include <faiss/IndexRefine.h>

#include <memory>

#include "src/device/cuda_index.h"
#include "src/device/cuda_places.h"
#include "src/faiss/index/refine_rows.h"

namespace polarquant::capi {

class CudaRefinement {
 public:
  /// Copies the refining index, to the devices if its codes are searched there and fit.
  CudaRefinement(const ::faiss::IndexRefine& index, const device::CudaPlaces& places);

  /// The k best of what `base`, a copy of the first index, finds.
  void search(const device::CudaIndex& base, const SearchRequest& request, void* stream,
              const SearchResult& result) const;
  /// On the devices.
  size_t memory_bytes() const { return codes_ != nullptr ? codes_->memory_bytes() : 0; }

 private:
  Refinement refinement_;
  std::unique_ptr<device::CudaIndex> codes_;  // or:
  std::unique_ptr<::faiss::Index> rows_;
};

}  // namespace polarquant::capi
