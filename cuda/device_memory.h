// SPDX-License-Identifier: MIT
// Whose memory a pointer is into, and tables that are copied to the device once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/device_buffer.h"
#include "cuda/interface.h"

namespace polarquant::cuda {

/// Whether the device reaches the memory as its own.
inline bool is_on_device(const void* pointer) {
  cudaPointerAttributes attributes;
  POLAR_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/// The device whose memory it is; `own` for memory that every device reaches, kHostMemory for
/// memory that only the host reaches as its own.
inline int32_t device_of(const void* pointer, int32_t own) {
  cudaPointerAttributes attributes;
  POLAR_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
  if (attributes.type == cudaMemoryTypeManaged) return own;
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : kHostMemory;
}

/// Copies a table to its place on the device.
template <typename T>
const T* upload_place(Carver* carver, size_t count, const T* from) {
  T* place = carver->take<T>(count);
  if (place != nullptr && count > 0)
    POLAR_CUDA_CHECK(cudaMemcpy(place, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return place;
}

}  // namespace polarquant::cuda
