// SPDX-License-Identifier: MIT
// Dot products of AVX-512 VNNI, for kernels' AVX3_DL forms.
//
// By inline assembly: Highway 1.0.3 compiles this target without avx512vnni, so that the intrinsic
// is refused, and the compilers' 256-bit form is AVX-VNNI, which Zen 4 lacks.
#if defined(POLARQUANT_DOT_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_DOT_BYTES_INL_H_
#undef POLARQUANT_DOT_BYTES_INL_H_
#else
#define POLARQUANT_DOT_BYTES_INL_H_
#endif

#include <hwy/highway.h>

#include "src/simd/capabilities.h"

#if POLAR_SIMD_VNNI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// sums[i] + Σ of the four products of bytes 4i … 4i+3.
HWY_ATTR inline __m512i dot_bytes(__m512i sums, __m512i unsigned_bytes, __m512i signed_bytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(unsigned_bytes), "v"(signed_bytes));
  return sums;
}

/// sums[i] + Σ of the two products of 16-bit integers 2i and 2i+1.
HWY_ATTR inline __m512i dot_shorts(__m512i sums, __m512i a, __m512i b) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
  return sums;
}

/// The four registers' sums over their lanes.
HWY_ATTR inline __m128i sum_each(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  const __m512i abcd =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(abcd), _mm512_extracti64x4_epi64(abcd, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // POLARQUANT_DOT_BYTES_INL_H_
