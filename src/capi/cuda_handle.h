// SPDX-License-Identifier: MIT
// What polar_cuda_index is.
#pragma once

#include <memory>

#include "polarquant/polarquant.h"
#include "src/device/cuda_index.h"
#ifdef POLARQUANT_HAS_FAISS
#include "src/capi/cuda_refinement.h"
#endif

struct polar_cuda_index {
  std::shared_ptr<polarquant::device::CudaIndex> index;  // prepared searches have it, too
  /// The metric of the queries: cosine where they are still to be normalized.
  polarquant::Metric metric;
#ifdef POLARQUANT_HAS_FAISS
  std::unique_ptr<polarquant::capi::CudaRefinement> refinement;  // null: what is found is returned

  bool refines() const { return refinement != nullptr; }
#else
  bool refines() const { return false; }
#endif
};
