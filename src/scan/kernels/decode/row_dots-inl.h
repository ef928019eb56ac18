// SPDX-License-Identifier: MIT
// Dot products of rows with a query, for kernels' AVX3_DL forms: values whose signs are the block's
// words, or that have none. A row's values never leave the registers. Magnitudes are the unsigned
// operand of VNNI and the query's values, with the row's signs, the signed one; values without sign
// plane are biased by 128 instead.
//
// Rows go in pairs: one register has half a segment of both side by side, with the pairs' first
// coordinates, another the half with the second ones, as tables give them.
#if defined(POLARQUANT_ROW_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROW_DOTS_INL_H_
#undef POLARQUANT_ROW_DOTS_INL_H_
#else
#define POLARQUANT_ROW_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/scan/kernels/decode/pair_values-inl.h"
#include "src/scan/kernels/decode/row_parts-inl.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"

#if POLAR_SIMD_VBMI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Whether RowDots can take a stage.
inline bool fits_row_dots(const Int8Stage& stage) {
  return std::none_of(stage.parts.begin(), stage.parts.end(),
                      [](const Int8Part& part) { return part.signs == Int8Part::Signs::plane; });
}

class RowDots {
 public:
  HWY_ATTR RowDots(const BlockLayout& layout, const Int8Stage& stage, const ScanQuery& query)
      : layout_(layout), stage_(stage), query_(query) {
    for (const Int8Part& part : stage.parts) {
      if (part.signs == Int8Part::Signs::none) bias_ -= 128 * value_sum(part);
    }
  }

  /// The most rows that are computed together.
  static constexpr int kMostRows = kFetchAhead;

  /// For `count` rows, a multiple of 4 up to kMostRows.
  HWY_ATTR HWY_INLINE void fours(const RowParts* at, int count, int32_t* dots) const {
    PairSums<false> sums[kMostRows / 2];
    add_rows<1>(at, count / 2, sums);
    for (int i = 0; i < count; i += 4)
      store_dots(sum_pairs(sums[i / 2].dots, sums[i / 2 + 1].dots), dots + i);
  }
  /// The same with the rows' Σ value².
  HWY_ATTR HWY_INLINE void fours(const RowParts* at, int count, int32_t* dots,
                                 float* squared_norms) const {
    PairSums<true> sums[kMostRows / 2];
    add_rows<1>(at, count / 2, sums);
    for (int i = 0; i < count; i += 4) {
      const PairSums<true>& first = sums[i / 2];
      const PairSums<true>& second = sums[i / 2 + 1];
      store_dots(sum_pairs(first.dots, second.dots), dots + i);
      _mm_storeu_ps(squared_norms + i,
                    _mm_cvtepi32_ps(sum_pairs(first.squared_norms, second.squared_norms)));
    }
  }

  /// For one row, whose segments are pairs.
  HWY_ATTR HWY_INLINE int32_t one(const RowParts& at) const {
    const RowParts twice[2] = {at, at};
    PairSums<false> sums;
    add_rows<2>(twice, 1, &sums);
    return bias_ + _mm512_reduce_add_epi32(sums.dots);
  }

 private:
  /// The sums of a pair of rows, which lie in the lanes of a half each: dot products, less the
  /// bias, and Σ value².
  template <bool kSquaredNorms>
  struct PairSums {
    __m512i dots;
    __m512i squared_norms;

    HWY_ATTR HWY_INLINE void clear() { dots = squared_norms = _mm512_setzero_si512(); }

    /// `kSigned`: values are magnitudes, negative where a bit of `signs` is 1.
    template <bool kSigned>
    HWY_ATTR HWY_INLINE void add(__m512i values, __m512i query, uint64_t signs) {
      if constexpr (kSquaredNorms) {
        const __m512i magnitudes = kSigned ? values : _mm512_abs_epi8(values);
        squared_norms = dot_bytes(squared_norms, magnitudes, magnitudes);
      }
      if constexpr (kSigned) {
        query = _mm512_mask_sub_epi8(query, signs, _mm512_setzero_si512(), query);
      } else {
        values = _mm512_xor_si512(values, _mm512_set1_epi8(-128));
      }
      dots = dot_bytes(dots, values, query);
    }
  };

  /// The sums of four rows, (a's low half, a's high half, b's low half, b's high half).
  static HWY_ATTR HWY_INLINE __m128i sum_pairs(__m512i a, __m512i b) {
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    // Each 128 bits have (a, b) twice, once they have been added to themselves turned round.
    const __m512i both = _mm512_add_epi32(ab, _mm512_shuffle_epi32(ab, _MM_PERM_BADC));
    const __m512i halves = _mm512_add_epi32(both, _mm512_shuffle_i64x2(both, both, 0xB1));
    const __m128i low = _mm512_castsi512_si128(halves);
    return _mm_unpacklo_epi32(low, _mm512_extracti64x2_epi64(halves, 2));
  }
  HWY_ATTR HWY_INLINE void store_dots(__m128i sums, int32_t* dots) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dots), _mm_add_epi32(_mm_set1_epi32(bias_), sums));
  }

  /// `kSegments` segments of a row are a pair. Part by part and segment by segment, so that tables
  /// and the query's values are loaded once for all rows.
  template <int kSegments, bool kSquaredNorms>
  HWY_ATTR HWY_INLINE void add_rows(const RowParts* at, int pairs,
                                    PairSums<kSquaredNorms>* sums) const {
    for (int pair = 0; pair < pairs; ++pair) sums[pair].clear();
    for (const Int8Part& part : stage_.parts) {
      if (part.kind == Int8Part::Kind::magnitudes) {
        add_part<kSegments, PairMagnitudes, true>(part, at, pairs, sums);
      } else if (part.signs == Int8Part::Signs::words) {
        add_part<kSegments, PairWindows, true>(part, at, pairs, sums);
      } else {
        add_part<kSegments, PairWindows, false>(part, at, pairs, sums);
      }
    }
  }

  // A function of its own for each kind of part: inlined together they leave one another too few
  // registers (docs/dev/tuning.md, "Kernels").
  template <int kSegments, class Values, bool kSigned, bool kSquaredNorms>
  HWY_ATTR HWY_NOINLINE void add_part(const Int8Part& part, const RowParts* at, int pairs,
                                      PairSums<kSquaredNorms>* sums) const {
    const typename Values::Tables tables(part);
    const int last = part.segments() - 1;
    for (int segment = 0; segment <= last; segment += kSegments) {
      const SegmentPair segments = {segment, std::min(segment + kSegments - 1, last)};
      const Values values(layout_, part, segments);
      const __m512i low_query = query_values(part, segments.low);
      // An odd last segment alone counts once.
      const __m512i high_query = segment + kSegments - 1 > last ? _mm512_setzero_si512()
                                                                : query_values(part, segments.high);
      const __m512i query_x = _mm512_shuffle_i64x2(low_query, high_query, 0x44);
      const __m512i query_y = _mm512_shuffle_i64x2(low_query, high_query, 0xEE);
      const WordOfRows low_signs(layout_, part.first_segment + segments.low);
      const WordOfRows high_signs(layout_, part.first_segment + segments.high);
      for (int pair = 0; pair < pairs; ++pair) {
        const RowParts& low = at[2 * pair];
        const RowParts& high = at[2 * pair + 1];
        const PairInt8 int8 = values.values(tables, low, high);
        uint64_t signs_x = 0;
        uint64_t signs_y = 0;
        if constexpr (kSigned) {
          const uint64_t low_word = low_signs.word(low);
          const uint64_t high_word = high_signs.word(high);
          signs_x = static_cast<uint32_t>(low_word) | high_word << 32;
          signs_y = low_word >> 32 | (high_word >> 32) << 32;
        }
        PairSums<kSquaredNorms> pair_sums = sums[pair];
        pair_sums.template add<kSigned>(int8.x, query_x, signs_x);
        pair_sums.template add<kSigned>(int8.y, query_y, signs_y);
        sums[pair] = pair_sums;
      }
    }
  }

  HWY_ATTR HWY_INLINE __m512i query_values(const Int8Part& part, int segment) const {
    return _mm512_load_si512(query_.values.data() +
                             static_cast<size_t>(part.first_segment + segment) * kSegmentDims);
  }

  HWY_ATTR int32_t value_sum(const Int8Part& part) const {
    __m512i sums = _mm512_setzero_si512();
    for (int segment = 0; segment < part.segments(); ++segment)
      sums = dot_bytes(sums, _mm512_set1_epi8(1), query_values(part, segment));
    return _mm512_reduce_add_epi32(sums);
  }

  const BlockLayout& layout_;
  const Int8Stage& stage_;
  const ScanQuery& query_;
  int32_t bias_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // POLARQUANT_ROW_DOTS_INL_H_
