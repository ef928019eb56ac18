// SPDX-License-Identifier: MIT
// Dot products of rows with a query, for kernels' AVX3_DL forms: levels whose signs are the block's
// words, or that have none. What is not 0 in a row's code never leaves the registers. Magnitudes
// are the unsigned operand of VNNI and the query's levels, with the row's signs, the signed one;
// levels without sign plane are biased by 128 instead.
#if defined(POLARQUANT_ROW_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROW_DOTS_INL_H_
#undef POLARQUANT_ROW_DOTS_INL_H_
#else
#define POLARQUANT_ROW_DOTS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/kernels/window_decode-inl.h"
#include "src/scan/scan_query.h"

#if HWY_TARGET == HWY_AVX3_DL
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Whether RowDots can take a stage.
inline bool fits_row_dots(const LevelStage& stage) {
  return std::none_of(stage.parts.begin(), stage.parts.end(),
                      [](const LevelPart& part) { return part.signs == LevelPart::Signs::plane; });
}

class RowDots {
 public:
  HWY_ATTR RowDots(const BlockLayout& layout, const LevelStage& stage, const ScanQuery& query)
      : layout_(layout), stage_(stage), query_(query) {
    for (const LevelPart& part : stage.parts) {
      if (part.signs == LevelPart::Signs::none) bias_ -= 128 * level_sum(part);
    }
  }

  HWY_ATTR HWY_INLINE __m128i four(const RowPlace (&at)[4]) const {
    return _mm_add_epi32(_mm_set1_epi32(bias_),
                         sum_each(row(at[0]), row(at[1]), row(at[2]), row(at[3])));
  }

  HWY_ATTR HWY_INLINE int32_t one(const RowPlace& at) const {
    return bias_ + _mm512_reduce_add_epi32(row(at));
  }

 private:
  /// A register whose lanes, and the bias, add up to the row's dot product.
  HWY_ATTR HWY_INLINE __m512i row(const RowPlace& at) const {
    __m512i sums = _mm512_setzero_si512();
    for (const LevelPart& part : stage_.parts) {
      if (part.kind == LevelPart::Kind::magnitudes) {
        sums = magnitudes(part, at, sums);
      } else if (part.kind == LevelPart::Kind::bytes) {
        sums = bytes(part, at, sums);
      } else if (part.signs == LevelPart::Signs::words) {
        sums = windows<true>(part, at, sums);
      } else {
        sums = windows<false>(part, at, sums);
      }
    }
    return sums;
  }

  const int8_t* levels_of(const LevelPart& part) const {
    return query_.levels.data() + static_cast<size_t>(part.first_segment) * kSegmentLanes;
  }

  HWY_ATTR int32_t level_sum(const LevelPart& part) const {
    __m512i sums = _mm512_setzero_si512();
    for (int segment = 0; segment < part.segments(); ++segment) {
      const int8_t* levels = levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes;
      sums = dot_bytes(sums, _mm512_set1_epi8(1), _mm512_load_si512(levels));
    }
    return _mm512_reduce_add_epi32(sums);
  }

  template <bool kSigns>
  HWY_ATTR HWY_INLINE __m512i windows(const LevelPart& part, const RowPlace& at,
                                      __m512i sums) const {
    const WindowReader reader(part);
    const uint8_t* ring = layout_.row_rest(at) + part.codes_offset;
    const uint8_t before = bits_before_ring(ring, pairs_of(part.dim) * part.step_bits);
    const int8_t* part_levels = levels_of(part);
    const int segments = part.segments();
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bias = _mm512_set1_epi8(-128);
    for (int segment = 0; segment < segments; segment += 2) {
      const __m512i windows = reader.read(ring, segment / 2, part.reads_half(segment / 2), before);
      const __m512i x = look_up(part.x, windows);
      const __m512i y = look_up(part.y, windows);
      __m512i front = _mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1);
      __m512i back = _mm512_shuffle_i64x2(x, y, 0xEE);
      const int8_t* levels = part_levels + static_cast<size_t>(segment) * kSegmentLanes;
      __m512i query_front = _mm512_load_si512(levels);
      // An odd last segment: what is loaded in the second's place does not count.
      const bool both = segment + 1 < segments;
      __m512i query_back = both ? _mm512_load_si512(levels + kSegmentLanes) : zero;
      if constexpr (kSigns) {
        const int word = part.first_segment + segment;
        query_front =
            _mm512_mask_sub_epi8(query_front, layout_.sign_word(at, word), zero, query_front);
        if (both) {
          query_back =
              _mm512_mask_sub_epi8(query_back, layout_.sign_word(at, word + 1), zero, query_back);
        }
      } else {
        front = _mm512_xor_si512(front, bias);
        back = _mm512_xor_si512(back, bias);
      }
      sums = dot_bytes(sums, front, query_front);
      if (both) sums = dot_bytes(sums, back, query_back);
    }
    return sums;
  }

  HWY_ATTR HWY_INLINE __m512i magnitudes(const LevelPart& part, const RowPlace& at,
                                         __m512i sums) const {
    const WindowReader reader(part);
    const uint8_t* fields = layout_.row_rest(at) + part.codes_offset;
    for (int segment = 0; segment < part.segments(); ++segment) {
      const __m512i levels = look_up(part.x, reader.read_fields(fields, segment));
      const __m512i query =
          _mm512_load_si512(levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes);
      const uint64_t negative = layout_.sign_word(at, part.first_segment + segment);
      sums = dot_bytes(sums, levels,
                       _mm512_mask_sub_epi8(query, negative, _mm512_setzero_si512(), query));
    }
    return sums;
  }

  HWY_ATTR HWY_INLINE __m512i bytes(const LevelPart& part, const RowPlace& at, __m512i sums) const {
    const uint8_t* codes = layout_.row_rest(at) + part.codes_offset;
    const int8_t* query = levels_of(part);
    const __m512i bias = _mm512_set1_epi8(-128);
    int left = part.dim;
    for (; left > 0; left -= kSegmentLanes, codes += kSegmentLanes, query += kSegmentLanes) {
      const __m512i indices =
          left >= kSegmentLanes ? _mm512_loadu_si512(codes) : halves(codes, left);
      sums = dot_bytes(sums, _mm512_xor_si512(look_up(part.x, indices), bias),
                       _mm512_load_si512(query));
    }
    return sums;
  }

  /// A last segment of n bytes as lanes: its two halves, each from the start of half a register.
  HWY_ATTR HWY_INLINE static __m512i halves(const uint8_t* codes, int n) {
    const int front = (n + 1) / 2;
    const __m256i x = _mm256_maskz_loadu_epi8(first_lanes(front), codes);
    const __m256i y = _mm256_maskz_loadu_epi8(first_lanes(n - front), codes + front);
    return _mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1);
  }
  static __mmask32 first_lanes(int n) { return static_cast<__mmask32>((uint64_t{1} << n) - 1); }

  const BlockLayout& layout_;
  const LevelStage& stage_;
  const ScanQuery& query_;
  int32_t bias_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // POLARQUANT_ROW_DOTS_INL_H_
