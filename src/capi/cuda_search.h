// SPDX-License-Identifier: MIT
// Searches of polar_cuda_index, whose arrays are each in host memory or in a device's.
#pragma once

#include <cstdint>
#include <vector>

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

/// Throws unsupported for options that the index has no use for.
void require_options_of(const polar_cuda_index& index, const SearchOptions& options);

/// The filter of bits in a device's memory, which are copied to *words.
RowFilter filter_of_copied_bits(const device::CudaIndex& index, const polar_bitset& bits,
                                void* stream, std::vector<uint64_t>* words);

/// Uses arrays where they lie, if the index does so; else copies of them.
void search_cuda_index(const CudaSearchCall& call);

}  // namespace polarquant::capi
