// SPDX-License-Identifier: MIT
// Searches of one shape that are put on a stream and not waited for, so that a CUDA graph can hold
// them: their memory is taken beforehand, and a list that was too short is told, not scanned again.
#pragma once

#include "cuda/device_index.h"
#include "cuda/interface.h"
#include "cuda/search.h"

namespace polarquant::cuda {

class PreparedSearch {
 public:
  /// As of FunctionTable::create_search.
  PreparedSearch(const DeviceIndex& index, const SearchRequest& shape, const int64_t* ids);

  void start(const PreparedSearchArrays& arrays) const;
  size_t memory_bytes() const { return workspace_.device.bytes() + ids_.bytes(); }

 private:
  const DeviceIndex& index_;
  SearchRequest shape_;
  Workspace workspace_;
  SearchGroups groups_;
  DeviceBuffer ids_;  // (rows); nothing where rows are their numbers
};

}  // namespace polarquant::cuda
