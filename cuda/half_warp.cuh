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
/// One step of half_warp_sums, and those after it: the first kCount values are still to be added to
/// those of the lane that is kWidth away.
template <int kWidth, int kCount, int kValues>
__device__ inline void add_halves(float (&values)[kValues]) {
  if constexpr (kWidth >= 1) {
    const unsigned mask = half_warp_mask();
    if constexpr (kCount == 1) {
      values[0] += __shfl_xor_sync(mask, values[0], kWidth, kHalfWarp);
      add_halves<kWidth / 2, 1>(values);
    } else {
      const bool is_upper = (threadIdx.x & kWidth) != 0;
#pragma unroll
      for (int i = 0; i < kCount / 2; ++i) {
        const float given = is_upper ? values[i] : values[i + kCount / 2];
        const float kept = is_upper ? values[i + kCount / 2] : values[i];
        values[i] = kept + __shfl_xor_sync(mask, given, kWidth, kHalfWarp);
      }
      add_halves<kWidth / 2, kCount / 2>(values);
    }
  }
}
/// Sums of several values over the half, each as half_warp_sum makes it. Of two lanes that would
/// add the same numbers each adds half of them: lane i gets kCount/16 sums, from number i·kCount/16
/// on, or one.
template <int kCount>
__device__ inline void half_warp_sums(float (&values)[kCount]) {
  static_assert((kCount & (kCount - 1)) == 0);
  add_halves<kHalfWarp / 2, kCount>(values);
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
