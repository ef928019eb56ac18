// SPDX-License-Identifier: MIT
// What rivals that multiply by cuBLAS share: its errors, and floats as halves.
#pragma once

#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace polarquant::bench {

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

/// A thread a number.
inline __global__ void to_half(const float* from, __half* to, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = __float2half_rn(from[i]);
}

}  // namespace polarquant::bench
