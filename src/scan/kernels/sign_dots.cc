// SPDX-License-Identifier: MIT
#include "src/scan/kernels/sign_dots.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "src/scan/row_levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/sign_dots.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Brings the sign words of a row's rest near.
HWY_ATTR inline void fetch_words(const ScanTile& tile, const BlockLayout& layout, uint32_t row) {
  const uint8_t* words = layout.row_rest(place_of(tile, row));
  for (size_t byte = 0; byte < layout.rest_sign_bytes(); byte += 64)
    __builtin_prefetch(words + byte);
}

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// A row's terms, as load_terms (row_levels.h) reads them. Every CPU with AVX2 converts float16 in
/// hardware, exactly like the plain code.
HWY_ATTR inline ScanTerms terms_of(const ScanCodec& codec, const ScanTile& tile, uint32_t row) {
  const RowPlace at = place_of(tile, row);
  const FactorFormat& format = codec.factor_format();
  if (!format.half) return load_terms(codec, at);
  const BlockLayout& layout = codec.layout();
  uint16_t halves[2];
  std::memcpy(&halves[0],
              at.front + layout.scales_offset(at.room) + 2 * static_cast<size_t>(at.row), 2);
  std::memcpy(&halves[1],
              at.front + layout.biases_offset(at.room) + 2 * static_cast<size_t>(at.row), 2);
  const float scale = _cvtsh_ss(halves[0]) * format.scale_unit;
  const float bias = _cvtsh_ss(halves[1]) * format.bias_unit;
  if (codec.metric() == Metric::l2) return {scale, -(bias * bias), bias};
  return {scale, bias, scale};
}

#else

inline ScanTerms terms_of(const ScanCodec& codec, const ScanTile& tile, uint32_t row) {
  return load_terms(codec, place_of(tile, row));
}

#endif

#if HWY_TARGET == HWY_AVX3_DL

/// A row's sign words: those of the front lie kGroupRows apart, the others bytes of its rest.
struct RowWords {
  const uint64_t* front;
  const uint8_t* rest;

  HWY_ATTR uint64_t front_word(int word) const {
    return front[static_cast<size_t>(word) * kGroupRows];
  }
  HWY_ATTR uint64_t rest_word(int word) const {
    uint64_t value;
    std::memcpy(&value, rest + static_cast<size_t>(word) * sizeof value, sizeof value);
    return value;
  }
};

HWY_ATTR inline RowWords row_words(const BlockLayout& layout, const RowPlace& at) {
  return {reinterpret_cast<const uint64_t*>(at.front) +
              static_cast<size_t>(at.row / kGroupRows) * layout.front_words() * kGroupRows +
              at.row % kGroupRows,
          layout.row_rest(at)};
}

// Σ level·(±1) = level_sum − 2·Σ of the levels whose sign bit is 1: a mask makes the bits bytes of
// 1, which VNNI multiplies with the levels. Four rows at a time share loads and the sum over lanes.
HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, KeptRows out, int count) {
  const BlockLayout& layout = codec.layout();
  const int front_words = layout.front_words();
  const int rest_words = layout.sign_words() - front_words;
  uint32_t* rows = out.rows;
  const __m512i ones = _mm512_set1_epi8(1);
  const __m128i level_sum = _mm_set1_epi32(query.level_sum);
  const __m128 base = _mm_set1_ps(query.score.base);
  const __m128 weight = _mm_set1_ps(query.score.weight);
  const __m128 slope = _mm_set1_ps(query.signs.slope);
  const __m128 margin = _mm_set1_ps(query.signs.margin);
  const __m128 least = _mm_set1_ps(threshold);
  int kept = 0;
  for (int i = count; i % 4 != 0; ++i) rows[i] = rows[count - 1];
  for (int i = 0; i < std::min(count, kFetchAhead); ++i) fetch_words(tile, layout, rows[i]);
  for (int i = 0; i < count; i += 4) {
    for (int j = i + kFetchAhead; j < std::min(count, i + kFetchAhead + 4); ++j)
      fetch_words(tile, layout, rows[j]);
    const uint32_t r0 = rows[i];
    const uint32_t r1 = rows[i + 1];
    const uint32_t r2 = rows[i + 2];
    const uint32_t r3 = rows[i + 3];
    const RowWords w0 = row_words(layout, place_of(tile, r0));
    const RowWords w1 = row_words(layout, place_of(tile, r1));
    const RowWords w2 = row_words(layout, place_of(tile, r2));
    const RowWords w3 = row_words(layout, place_of(tile, r3));
    __m512i a0 = _mm512_setzero_si512();
    __m512i a1 = a0;
    __m512i a2 = a0;
    __m512i a3 = a0;
    const auto add = [&](int segment, uint64_t s0, uint64_t s1, uint64_t s2, uint64_t s3) HWY_ATTR {
      const __m512i levels =
          _mm512_load_si512(query.levels.data() + static_cast<size_t>(segment) * kSegmentLanes);
      a0 = dot_bytes(a0, _mm512_maskz_mov_epi8(s0, ones), levels);
      a1 = dot_bytes(a1, _mm512_maskz_mov_epi8(s1, ones), levels);
      a2 = dot_bytes(a2, _mm512_maskz_mov_epi8(s2, ones), levels);
      a3 = dot_bytes(a3, _mm512_maskz_mov_epi8(s3, ones), levels);
    };
    for (int word = 0; word < front_words; ++word) {
      add(word, w0.front_word(word), w1.front_word(word), w2.front_word(word), w3.front_word(word));
    }
    for (int word = 0; word < rest_words; ++word) {
      add(front_words + word, w0.rest_word(word), w1.rest_word(word), w2.rest_word(word),
          w3.rest_word(word));
    }
    const __m128i negative = sum_each(a0, a1, a2, a3);
    const __m128 dot = _mm_cvtepi32_ps(_mm_sub_epi32(level_sum, _mm_add_epi32(negative, negative)));
    const uint32_t four_rows[4] = {r0, r1, r2, r3};
    ScanTerms terms[4];
    for (int j = 0; j < 4; ++j) terms[j] = terms_of(codec, tile, four_rows[j]);
    const __m128 constant =
        _mm_setr_ps(terms[0].constant, terms[1].constant, terms[2].constant, terms[3].constant);
    const __m128 norm = _mm_setr_ps(terms[0].norm, terms[1].norm, terms[2].norm, terms[3].norm);
    const __m128 bound = _mm_add_ps(_mm_add_ps(base, _mm_mul_ps(weight, constant)),
                                    _mm_mul_ps(norm, _mm_add_ps(_mm_mul_ps(slope, dot), margin)));
    const auto reached = static_cast<unsigned>(_mm_movemask_ps(_mm_cmpge_ps(bound, least)));
    // Without branches: which rows stay is not predictable.
    alignas(16) float four[4];
    _mm_store_ps(four, bound);
    for (unsigned j = 0; j < 4; ++j) {
      rows[kept] = four_rows[j];
      out.terms[kept] = terms[j];
      out.bounds[kept] = four[j];
      kept += static_cast<int>(reached >> j & 1);
    }
    // Places that only fill up the last four.
    if (i + 4 > count) kept -= std::popcount(reached >> (count - i));
  }
  return kept;
}

/// Σ of the levels whose sign bit is 1.
HWY_ATTR int32_t negative_levels(const BlockLayout& layout, const RowPlace& at,
                                 const ScanQuery& query) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int segment = 0; segment < layout.sign_words(); ++segment) {
    const uint64_t word = layout.sign_word(at, segment);
    const __m512i levels =
        _mm512_load_si512(query.levels.data() + static_cast<size_t>(segment) * kSegmentLanes);
    sums = dot_bytes(sums, _mm512_maskz_mov_epi8(word, ones), levels);
  }
  return _mm512_reduce_add_epi32(sums);
}

#else

#if HWY_TARGET == HWY_SCALAR

/// Σ of the levels whose sign bit is 1.
int32_t negative_levels(const BlockLayout& layout, const RowPlace& at, const ScanQuery& query) {
  int32_t sum = 0;
  for (int lane = 0; lane < layout.sign_words() * kSegmentLanes; ++lane) {
    const uint64_t word = layout.sign_word(at, lane / kSegmentLanes);
    if ((word >> (lane % kSegmentLanes) & 1) != 0) sum += query.levels[static_cast<size_t>(lane)];
  }
  return sum;
}

#else

/// Σ of the levels whose sign bit is 1. Levels are taken biased, level + 128 in a byte without
/// sign, which sums of bytes can add up; the bias goes out with the number of bits.
HWY_ATTR int32_t negative_levels(const BlockLayout& layout, const RowPlace& at,
                                 const ScanQuery& query) {
  const uint8_t* biased_levels = query.biased_levels.data();
  const hn::CappedTag<uint8_t, kSegmentLanes> d8;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t lanes = hn::Lanes(d8);
  auto sums = hn::Zero(d64);
  int bits = 0;
  for (int segment = 0; segment < layout.sign_words(); ++segment, biased_levels += kSegmentLanes) {
    const uint64_t word = layout.sign_word(at, segment);
    alignas(8) uint8_t mask_bits[16] = {};
    std::memcpy(mask_bits, &word, sizeof word);
    bits += std::popcount(word);
    for (size_t lane = 0; lane < kSegmentLanes; lane += lanes) {
      const auto negative = hn::LoadMaskBits(d8, mask_bits + lane / 8);
      sums = hn::Add(sums,
                     hn::SumsOf8(hn::IfThenElseZero(negative, hn::Load(d8, biased_levels + lane))));
    }
  }
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) - 128 * bits;
}

#endif

HWY_ATTR int keep_rows(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                       float threshold, KeptRows out, int count) {
  const BlockLayout& layout = codec.layout();
  int kept = 0;
  for (int i = 0; i < std::min(count, kFetchAhead); ++i) fetch_words(tile, layout, out.rows[i]);
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count) fetch_words(tile, layout, out.rows[i + kFetchAhead]);
    const uint32_t row = out.rows[i];
    const int32_t negative = negative_levels(layout, place_of(tile, row), query);
    const ScanTerms terms = terms_of(codec, tile, row);
    out.rows[kept] = row;
    out.terms[kept] = terms;
    out.bounds[kept] = dot_bound(query.score, query.signs, terms, query.level_sum - 2 * negative);
    kept += out.bounds[kept] >= threshold ? 1 : 0;
  }
  return kept;
}

#endif

HWY_ATTR SignSums sums_of_row(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  const BlockLayout& layout = codec.layout();
  int32_t distance = 0;
  for (int word = 0; word < layout.front_words(); ++word) {
    const auto i = static_cast<size_t>(word);
    const uint64_t differ = query.sign_words[i] ^ layout.sign_word(at, word);
    distance += std::popcount(differ) + 2 * std::popcount(differ & query.heavy_words[i]);
  }
  return {distance, query.level_sum - 2 * negative_levels(layout, at, query)};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(keep_rows);
HWY_EXPORT(sums_of_row);

int keep_by_sign_dot(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                     float threshold, KeptRows kept, int count) {
  return HWY_DYNAMIC_DISPATCH(keep_rows)(codec, tile, query, threshold, kept, count);
}

SignSums sign_sums(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at) {
  return HWY_DYNAMIC_DISPATCH(sums_of_row)(codec, query, at);
}

}  // namespace polarquant
#endif
