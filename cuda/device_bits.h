// SPDX-License-Identifier: MIT
// A filter's bits on a device, for searches that come with the same filter.
#pragma once

#include "cuda/device_buffer.h"
#include "cuda/device_index.h"

namespace polarquant::cuda {

class DeviceBits {
 public:
  /// `words`: one for each of the index's blocks; `lists`: for each of its lists, or null. Both are
  /// in host memory.
  DeviceBits(const DeviceIndex& index, const uint64_t* words, const ListFilter* lists) {
    const CurrentDevice current(index.device());
    copy(&words_, words, index.code().blocks());
    if (lists != nullptr) copy(&lists_, lists, index.lists()->view().count);
  }

  const uint64_t* words() const { return words_.as<uint64_t>(); }
  /// Null where none were given.
  const ListFilter* lists() const { return lists_.as<ListFilter>(); }

 private:
  template <typename T>
  static void copy(DeviceBuffer* to, const T* from, int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    to->need(bytes);
    POLAR_CUDA_CHECK(cudaMemcpy(to->as<void>(), from, bytes, cudaMemcpyHostToDevice));
  }

  DeviceBuffer words_;
  DeviceBuffer lists_;
};

}  // namespace polarquant::cuda
