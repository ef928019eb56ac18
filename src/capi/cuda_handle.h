// SPDX-License-Identifier: MIT
// What polar_cuda_index is.
#pragma once

#include <cstdint>
#include <memory>

#include "polarquant/polarquant.h"
#include "src/core/rows_state.h"
#include "src/device/cuda_index.h"
#include "src/device/cuda_places.h"
#ifdef POLARQUANT_HAS_FAISS
#include "src/capi/cuda_refinement.h"
#endif

struct polar_cuda_index {
  std::unique_ptr<polarquant::device::CudaIndex> index;
  /// The metric of the queries: cosine where they are still to be normalized.
  polarquant::Metric metric;
  polarquant::device::CudaPlaces places;
  int32_t num_threads = 0;  // to code rows that are floats
  /// The held_rows_state() of what was copied, as it was then.
  uint64_t copied_rows = polarquant::kUnknownRows;
#ifdef POLARQUANT_HAS_FAISS
  std::unique_ptr<polarquant::capi::CudaRefinement> refinement;  // null: what is found is returned

  bool refines() const { return refinement != nullptr; }
#else
  bool refines() const { return false; }
#endif
};
