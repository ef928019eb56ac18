// SPDX-License-Identifier: MIT
// The dot product of two rows of values.
#if defined(POLARQUANT_DOT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_DOT_ROW_INL_H_
#undef POLARQUANT_DOT_ROW_INL_H_
#else
#define POLARQUANT_DOT_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/simd/capabilities.h"
#include "src/simd/int8_values.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_AVX2 && !POLAR_SIMD_VNNI

/// sums[i] + Σ of the four products of bytes 4i … 4i+3, −127 to 127: two products of magnitudes and
/// signed bytes fit 16 bits. Widening both would take twice the instructions.
HWY_ATTR HWY_INLINE __m256i dot_signed_bytes(__m256i sums, __m256i a, __m256i b) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

HWY_ATTR HWY_INLINE int32_t sum_lanes(__m256i sums) {
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b01001110));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b10110001));
  return _mm_cvtsi128_si32(four);
}

/// For padded_dim values of −127 to 127, a multiple of kSegmentDims.
HWY_ATTR inline int32_t dot_row(const int8_t* a, const int8_t* b, int padded_dim) {
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (int position = 0; position < padded_dim; position += 64) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const auto* at = reinterpret_cast<const __m256i*>(a + position) + i;
      const __m256i x = _mm256_load_si256(at);
      const __m256i y = _mm256_load_si256(reinterpret_cast<const __m256i*>(b + position) + i);
      sums[i] = dot_signed_bytes(sums[i], x, y);
    }
  }
  return sum_lanes(_mm256_add_epi32(sums[0], sums[1]));
}

#else

/// For padded_dim values of −127 to 127, a multiple of kSegmentDims.
HWY_ATTR inline int32_t dot_row(const int8_t* a, const int8_t* b, int padded_dim) {
  const hn::CappedTag<int8_t, kSegmentDims> d8;
  const hn::RepartitionToWide<decltype(d8)> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Half<decltype(d8)> d8_half;
  const int half = static_cast<int>(hn::Lanes(d8_half));
  auto sum0 = hn::Zero(d32);
  auto sum1 = hn::Zero(d32);
  for (int position = 0; position < padded_dim; position += half) {
    const auto x = hn::PromoteTo(d16, hn::Load(d8_half, a + position));
    const auto y = hn::PromoteTo(d16, hn::Load(d8_half, b + position));
    sum0 = hn::ReorderWidenMulAccumulate(d32, x, y, sum0, sum1);
  }
  return hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum0, sum1)));
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
