// SPDX-License-Identifier: MIT
// Whose memory a pointer is into, and tables that go to the device once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/device_buffer.h"

namespace polarquant::cuda {

/// Whether the device reaches it as its own memory.
inline bool is_on_device(const void* pointer) {
  cudaPointerAttributes attributes;
  POLAR_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/// Copies a table to its place, once there is one.
template <typename T>
const T* upload_place(Carver* carver, size_t count, const T* from) {
  T* place = carver->take<T>(count);
  if (place != nullptr && count > 0)
    POLAR_CUDA_CHECK(cudaMemcpy(place, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return place;
}

}  // namespace polarquant::cuda
