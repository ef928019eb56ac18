// SPDX-License-Identifier: MIT
// Half a warp's sums in the order of src/codec/dot.h: coordinate j is added by lane j mod 16, then
// halves are added to each other. All lanes get the sum, since an addition has the same bits either
// way round.
#pragma once

#include <cstdint>

namespace polarquant::cuda {

inline constexpr int kHalfWarp = 16;

/// The mask of the calling thread's half.
__device__ inline unsigned half_warp_mask() {
  return 0xffffU << (threadIdx.x % 32 / kHalfWarp * kHalfWarp);
}
__device__ inline float half_warp_sum(float value) {
  const unsigned mask = half_warp_mask();
  for (int width = kHalfWarp / 2; width >= 1; width /= 2)
    value += __shfl_xor_sync(mask, value, width, kHalfWarp);
  return value;
}
__device__ inline float half_warp_largest(float value) {
  const unsigned mask = half_warp_mask();
  for (int width = kHalfWarp / 2; width >= 1; width /= 2)
    value = fmaxf(value, __shfl_xor_sync(mask, value, width, kHalfWarp));
  return value;
}
__device__ inline int32_t half_warp_sum(int32_t value) {
  return static_cast<int32_t>(__reduce_add_sync(half_warp_mask(), static_cast<unsigned>(value)));
}
__device__ inline uint64_t half_warp_or(uint64_t bits) {
  const unsigned mask = half_warp_mask();
  const uint64_t low = __reduce_or_sync(mask, static_cast<uint32_t>(bits));
  return static_cast<uint64_t>(__reduce_or_sync(mask, static_cast<uint32_t>(bits >> 32))) << 32 |
         low;
}

}  // namespace polarquant::cuda
