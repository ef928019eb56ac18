// SPDX-License-Identifier: MIT
// Four rows of values at a time, for x86 targets from AVX2 on: dot products, and which of them
// reach a threshold, in one register of 128 bits.
#if defined(POLARQUANT_FOUR_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_FOUR_ROWS_INL_H_
#undef POLARQUANT_FOUR_ROWS_INL_H_
#else
#define POLARQUANT_FOUR_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"
#include "src/simd/dot_row-inl.h"

#if POLAR_SIMD_AVX2
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VNNI

/// The number that set_operand_rows (decode_rows.h) adds to values of rows. Their dot products are
/// larger by it times Σ query value.
inline constexpr int kOperandBias = 128;

/// Sums that make up a row's dot product.
using DotSums = __m512i;
inline constexpr int kDotDims = 64;

HWY_ATTR HWY_INLINE DotSums no_sums() { return _mm512_setzero_si512(); }
HWY_ATTR HWY_INLINE int32_t sum_lanes(DotSums sums) { return _mm512_reduce_add_epi32(sums); }

/// A query's values as factors of rows.
struct QueryBytes {
  __m512i values;
  HWY_ATTR HWY_INLINE explicit QueryBytes(const int8_t* at) : values(_mm512_load_si512(at)) {}
  HWY_ATTR HWY_INLINE DotSums add(DotSums sums, const uint8_t* row) const {
    return dot_bytes(sums, _mm512_load_si512(row), values);
  }
};

/// A bit for each of four rows.
using FourMask = __mmask8;

/// Those whose value is not below; NaN is left to the search.
HWY_ATTR HWY_INLINE FourMask not_below(__m128 value, __m128 least, FourMask filled) {
  return _mm_mask_cmp_ps_mask(filled, value, least, _CMP_NLT_UQ);
}

/// Writes the values of the mask; those after them are 0.
HWY_ATTR HWY_INLINE void write_some(void* to, FourMask mask, __m128i values) {
  _mm_storeu_si128(static_cast<__m128i*>(to), _mm_maskz_compress_epi32(mask, values));
}

#else

inline constexpr int kOperandBias = 0;

using DotSums = __m256i;
inline constexpr int kDotDims = 32;

HWY_ATTR HWY_INLINE DotSums no_sums() { return _mm256_setzero_si256(); }

struct QueryBytes {
  __m256i values;
  HWY_ATTR HWY_INLINE explicit QueryBytes(const int8_t* at)
      : values(_mm256_load_si256(reinterpret_cast<const __m256i*>(at))) {}
  HWY_ATTR HWY_INLINE DotSums add(DotSums sums, const uint8_t* row) const {
    return dot_signed_bytes(sums, values, _mm256_load_si256(reinterpret_cast<const __m256i*>(row)));
  }
};

HWY_ATTR HWY_INLINE __m128i sum_each(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i abcd = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  return _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
}

using FourMask = uint8_t;

HWY_ATTR HWY_INLINE FourMask not_below(__m128 value, __m128 least, FourMask filled) {
  return static_cast<FourMask>(_mm_movemask_ps(_mm_cmp_ps(value, least, _CMP_NLT_UQ)) & filled);
}

/// For each mask, the bytes of its values one after the other.
struct FourCompressed {
  alignas(16) uint8_t bytes[16][16];

  constexpr FourCompressed() : bytes() {
    for (unsigned mask = 0; mask < 16; ++mask) {
      unsigned to = 0;
      for (unsigned place = 0; place < 4; ++place) {
        if ((mask >> place & 1) == 0) continue;
        for (unsigned byte = 0; byte < 4; ++byte)
          bytes[mask][to++] = static_cast<uint8_t>(4 * place + byte);
      }
      while (to < 16) bytes[mask][to++] = 0x80;
    }
  }
};
constexpr FourCompressed kFourCompressed;

HWY_ATTR HWY_INLINE void write_some(void* to, FourMask mask, __m128i values) {
  const __m128i places =
      _mm_load_si128(reinterpret_cast<const __m128i*>(kFourCompressed.bytes[mask]));
  _mm_storeu_si128(static_cast<__m128i*>(to), _mm_shuffle_epi8(values, places));
}

#endif

HWY_INLINE int count_of(FourMask mask) { return std::popcount(static_cast<unsigned>(mask)); }

/// The bits of places i … i+3 that are below `count`: the others only fill up four.
HWY_INLINE FourMask filled_places(int i, int count) {
  return static_cast<FourMask>(i + 4 > count ? (1U << (count - i)) - 1 : 0x0F);
}

/// Four rows' Σ operand·query value.
HWY_ATTR HWY_INLINE __m128i four_dots(const uint8_t* const (&rows)[4], const int8_t* query,
                                      int padded_dim) {
  DotSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
  for (int position = 0; position < padded_dim; position += kDotDims) {
    const QueryBytes values(query + position);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sums[j] = values.add(sums[j], rows[j] + position);
  }
  return sum_each(sums[0], sums[1], sums[2], sums[3]);
}

/// The same with a query for each row.
HWY_ATTR HWY_INLINE __m128i dots_of_pairs(const uint8_t* const (&rows)[4],
                                          const int8_t* const (&queries)[4], int padded_dim) {
  DotSums sums[4] = {no_sums(), no_sums(), no_sums(), no_sums()};
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j)
    for (int position = 0; position < padded_dim; position += kDotDims)
      sums[j] = QueryBytes(queries[j] + position).add(sums[j], rows[j] + position);
  return sum_each(sums[0], sums[1], sums[2], sums[3]);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
