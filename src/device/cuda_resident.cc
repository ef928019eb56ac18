// SPDX-License-Identifier: MIT
// Of an index on devices: what tells where a search's arrays may lie.
#include "src/device/cuda_index.h"
#include "src/device/cuda_query_description.h"

namespace polarquant::device {

ResidentUse CudaIndex::resident_use() const {
  ResidentUse use;
  if (devices_ != 1 || row_numbers_ == 0) return use;
  use.device = parts_.front()->device();
  use.queries = prepares_queries(*codec_);
  // The host has the ids, but for positions.
  use.scores = lists_ == nullptr;
  use.ids = use.allowed = use.scores && ids_.empty();
  return use;
}

void CudaIndex::find_memory(std::span<const void* const> pointers, int32_t* found) const {
  parts_.front()->find_memory(pointers, found);
}

void CudaIndex::copy(void* to, const void* from, size_t bytes, void* stream) const {
  parts_.front()->copy(to, from, bytes, stream);
}

}  // namespace polarquant::device
