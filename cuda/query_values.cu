// SPDX-License-Identifier: MIT
#include "cuda/cuda_check.h"
#include "cuda/group8_decode.cuh"
#include "cuda/query_values.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    arrange_values_kernel(int64_t count, int padded_dim, const int8_t* values, int8_t* arranged) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= count) return;
  const int64_t query = at / padded_dim;
  const auto byte = static_cast<int>(at % padded_dim);
  const int in_segment = byte % kSegmentDims;
  const int u = in_segment / 16;
  const int c = in_segment % 16 / 4;
  arranged[at] = values[query * padded_dim + byte - in_segment + position_of_byte(c, u, byte % 4)];
}

}  // namespace

void arrange_values(const CodeView& code, int nq, const int8_t* values, int8_t* arranged,
                    cudaStream_t stream) {
  const int64_t count = int64_t{nq} * code.padded_dim();
  arrange_values_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0,
                          stream>>>(count, code.padded_dim(), values, arranged);
  POLAR_CUDA_CHECK_LAUNCH(arrange_values_kernel);
}

}  // namespace polarquant::cuda
