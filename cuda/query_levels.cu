// SPDX-License-Identifier: MIT
#include "cuda/cuda_check.h"
#include "cuda/octet_decode.cuh"
#include "cuda/query_levels.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    arrange_levels_kernel(int64_t count, int lanes, int planes, const int16_t* levels,
                          const int8_t* sign_levels, int8_t* arranged, int8_t* arranged_signs) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= count) return;
  const int64_t query = at / lanes;
  const auto byte = static_cast<int>(at % lanes);
  const int in_segment = byte % kSegmentLanes;
  const int u = in_segment / 16;
  const int c = in_segment % 16 / 4;
  const int64_t from = query * lanes + byte - in_segment + lane_of_byte(c, u, byte % 4);
  const int level = levels[from];
  if (planes == 2) {
    const int high = (level + (1 << (kWideShift - 1))) >> kWideShift;
    arranged[at] = static_cast<int8_t>(high);
    arranged[count + at] = static_cast<int8_t>(level - (high << kWideShift));
  } else {
    arranged[at] = static_cast<int8_t>(level);
  }
  if (sign_levels != nullptr) arranged_signs[at] = sign_levels[from];
}

}  // namespace

void arrange_levels(const CodeView& code, int nq, const int16_t* levels, const int8_t* sign_levels,
                    int8_t* arranged, int8_t* arranged_signs, cudaStream_t stream) {
  const int64_t count = int64_t{nq} * code.lanes();
  arrange_levels_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0,
                          stream>>>(count, code.lanes(), code.planes, levels, sign_levels, arranged,
                                    arranged_signs);
  POLAR_CUDA_CHECK_LAUNCH(arrange_levels_kernel);
}

}  // namespace polarquant::cuda
