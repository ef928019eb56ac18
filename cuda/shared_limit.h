// SPDX-License-Identifier: MIT
// For kernels that need more shared memory than a block gets by default.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>

#include "cuda/cuda_check.h"

namespace polarquant::cuda {

/// Lets blocks of `kernel` take all the shared memory of the current device, less the kernel's own
/// `static_bytes`. Set once for each device, and to the most there is: setting it and launching are
/// two steps, and others may launch between them.
template <auto kernel>
void allow_shared_memory(size_t static_bytes = 0) {
  constexpr int kDevices = 64;
  static std::once_flag allowed[kDevices];
  int device = 0;
  POLAR_CUDA_CHECK(cudaGetDevice(&device));
  std::call_once(allowed[device % kDevices], [&] {
    int most = 0;
    POLAR_CUDA_CHECK(
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    POLAR_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          most - static_cast<int>(static_bytes)));
  });
}

}  // namespace polarquant::cuda
