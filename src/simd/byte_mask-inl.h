// SPDX-License-Identifier: MIT
// Bits as bytes of 0 and 255, for x86 targets from AVX2 on that have no masks.
#if defined(POLARQUANT_BYTE_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_BYTE_MASK_INL_H_
#undef POLARQUANT_BYTE_MASK_INL_H_
#else
#define POLARQUANT_BYTE_MASK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/simd/capabilities.h"

#if POLAR_SIMD_AVX2
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Byte i is 255 where bit i is 1.
HWY_ATTR HWY_INLINE __m256i byte_mask(uint32_t bits) {
  const __m256i byte_of_lane =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit_of_lane = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
  const __m256i spread =
      _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte_of_lane);
  return _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit_of_lane), bit_of_lane);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
