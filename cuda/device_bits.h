// SPDX-License-Identifier: MIT
// A filter's bits on a device, for searches that come with the same filter.
#pragma once

#include "cuda/device_buffer.h"
#include "cuda/device_index.h"

namespace polarquant::cuda {

class DeviceBits {
 public:
  /// `words`: one for each of the index's blocks, in host memory.
  DeviceBits(const DeviceIndex& index, const uint64_t* words) {
    const CurrentDevice current(index.device());
    const size_t bytes = static_cast<size_t>(index.code().blocks()) * sizeof(uint64_t);
    words_.need(bytes);
    POLAR_CUDA_CHECK(cudaMemcpy(words_.as<void>(), words, bytes, cudaMemcpyHostToDevice));
  }

  const uint64_t* words() const { return words_.as<uint64_t>(); }

 private:
  DeviceBuffer words_;
};

}  // namespace polarquant::cuda
