// SPDX-License-Identifier: MIT
// Searches of polar_cuda_index, whose arrays are each in host memory or in a device's.
#pragma once

#include "src/capi/cuda_handle.h"
#include "src/scan/search/search_request.h"
#include "src/scan/search/search_result.h"

namespace polarquant::capi {

/// Checked, but for the queries' numbers, which nobody has read.
struct CudaSearchCall {
  const polar_cuda_index& index;
  SearchRequest request;
  polar_bitset bits;  // what the request's filter is; no words where it is another one, or none
  void* stream;
  SearchResult result;
};

/// Uses arrays where they lie, if the index does so; else copies of them.
void search_cuda_index(const CudaSearchCall& call);

}  // namespace polarquant::capi
