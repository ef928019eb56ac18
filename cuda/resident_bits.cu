// SPDX-License-Identifier: MIT
#include "cuda/resident_bits.h"

#include "cuda/cuda_check.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    copy_bits_kernel(ResidentBits bits, int64_t blocks, uint64_t* words) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= blocks) return;
  const int64_t left = bits.count - at * kBlockRows;
  const uint64_t word = left > 0 ? bits.words[at] : 0;
  words[at] = left >= kBlockRows || left <= 0 ? word : word & ((uint64_t{1} << left) - 1);
}

}  // namespace

void copy_bits(const ResidentBits& bits, int64_t blocks, uint64_t* words, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((blocks + kThreads - 1) / kThreads);
  copy_bits_kernel<<<grid, kThreads, 0, stream>>>(bits, blocks, words);
  POLAR_CUDA_CHECK_LAUNCH(copy_bits_kernel);
}

}  // namespace polarquant::cuda
