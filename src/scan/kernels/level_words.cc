// SPDX-License-Identifier: MIT
#include "src/scan/kernels/level_words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "src/scan/scan_codec.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/level_words.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The largest level that is not heavy.
inline int largest_light(int32_t squares, int dims, float heavy_from) {
  const float mean_square = static_cast<float>(squares) / static_cast<float>(std::max(dims, 1));
  return static_cast<int>(heavy_from * std::sqrt(mean_square));
}

#if HWY_TARGET == HWY_SCALAR

LevelWord sum_word(const int8_t* levels, bool weighed, int dims, float heavy_from) {
  LevelWord word;
  for (int j = 0; j < kSegmentLanes; ++j) {
    word.negative |= static_cast<uint64_t>(levels[j] < 0) << j;
    word.sum += levels[j];
    word.squares += levels[j] * levels[j];
    word.magnitudes += std::abs(levels[j]);
  }
  if (!weighed) return word;
  const int light = largest_light(word.squares, dims, heavy_from);
  for (int j = 0; j < kSegmentLanes; ++j) {
    if (std::abs(levels[j]) <= light) continue;
    word.heavy |= uint64_t{1} << j;
    word.heavy_magnitudes += std::abs(levels[j]);
  }
  return word;
}

#elif HWY_TARGET == HWY_AVX3_DL

HWY_ATTR LevelWord sum_word(const int8_t* levels, bool weighed, int dims, float heavy_from) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi8(1);
  const __m512i values = _mm512_load_si512(levels);
  const __m512i magnitudes = _mm512_abs_epi8(values);
  alignas(16) int32_t sums[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(sums),
                  sum_each(dot_bytes(zero, ones, values), dot_bytes(zero, magnitudes, magnitudes),
                           dot_bytes(zero, magnitudes, ones), zero));
  LevelWord word;
  word.negative = _mm512_movepi8_mask(values);
  word.sum = sums[0];
  word.squares = sums[1];
  word.magnitudes = sums[2];
  if (!weighed) return word;
  const int light = std::min(largest_light(word.squares, dims, heavy_from), kMaxLevel);
  word.heavy = _mm512_cmpgt_epi8_mask(magnitudes, _mm512_set1_epi8(static_cast<int8_t>(light)));
  word.heavy_magnitudes =
      _mm512_reduce_add_epi32(dot_bytes(zero, _mm512_maskz_mov_epi8(word.heavy, magnitudes), ones));
  return word;
}

#else

/// 64 numbers in registers of 16 bits.
struct WideWord {
  using D = hn::CappedTag<int16_t, 32>;

  /// Bits of the lanes for which `test` holds.
  template <class Test>
  HWY_ATTR HWY_INLINE static uint64_t bits(const int16_t* wide, const Test& test) {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    uint64_t all = 0;
    for (int j = 0; j < kSegmentLanes; j += lanes) {
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, test(hn::Load(d, wide + j)), bytes);
      uint64_t some = 0;
      for (int i = 0; i < (lanes + 7) / 8; ++i) some |= uint64_t{bytes[i]} << (8 * i);
      all |= some << j;
    }
    return all;
  }

  /// Σ a·b over the lanes.
  template <class A, class B>
  HWY_ATTR HWY_INLINE static int32_t sum(const int16_t* wide, const A& a, const B& b) {
    const D d;
    const hn::Repartition<int32_t, D> d32;
    const int lanes = static_cast<int>(hn::Lanes(d));
    auto sums = hn::Zero(d32);
    auto more = hn::Zero(d32);
    for (int j = 0; j < kSegmentLanes; j += lanes) {
      const auto value = hn::Load(d, wide + j);
      sums = hn::ReorderWidenMulAccumulate(d32, a(value), b(value), sums, more);
    }
    return hn::GetLane(hn::SumOfLanes(d32, hn::Add(sums, more)));
  }
};

HWY_ATTR LevelWord sum_word(const int8_t* levels, bool weighed, int dims, float heavy_from) {
  const WideWord::D d;
  const hn::Rebind<int8_t, WideWord::D> d8;
  using V = hn::Vec<WideWord::D>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  alignas(64) int16_t wide[kSegmentLanes];
  for (int j = 0; j < kSegmentLanes; j += lanes)
    hn::Store(hn::PromoteTo(d, hn::LoadU(d8, levels + j)), d, wide + j);
  const auto one = hn::Set(d, int16_t{1});
  const auto itself = [](V v) HWY_ATTR { return v; };
  const auto magnitude = [](V v) HWY_ATTR { return hn::Abs(v); };
  const auto ones = [one](V) HWY_ATTR { return one; };
  LevelWord word;
  word.negative = WideWord::bits(wide, [d](V v) HWY_ATTR { return hn::Lt(v, hn::Zero(d)); });
  word.sum = WideWord::sum(wide, itself, ones);
  word.squares = WideWord::sum(wide, itself, itself);
  word.magnitudes = WideWord::sum(wide, magnitude, ones);
  if (!weighed) return word;
  const auto light =
      hn::Set(d, static_cast<int16_t>(largest_light(word.squares, dims, heavy_from)));
  const auto is_heavy = [light](V v) HWY_ATTR { return hn::Gt(hn::Abs(v), light); };
  word.heavy = WideWord::bits(wide, is_heavy);
  word.heavy_magnitudes = WideWord::sum(
      wide, [is_heavy](V v) HWY_ATTR { return hn::IfThenElseZero(is_heavy(v), hn::Abs(v)); }, ones);
  return word;
}

#endif

HWY_ATTR void sum_words(const int8_t* levels, int words, int weighed, int dims, float heavy_from,
                        LevelWord* sums) {
  for (int word = 0; word < words; ++word) {
    const int of_word = std::min(kSegmentLanes, dims - word * kSegmentLanes);
    sums[word] = sum_word(levels + word * kSegmentLanes, word < weighed, of_word, heavy_from);
    sums[word].heavy_count = std::popcount(sums[word].heavy);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(sum_words);

void sum_level_words(const int8_t* levels, int words, int weighed, int dims, float heavy_from,
                     LevelWord* sums) {
  HWY_DYNAMIC_DISPATCH(sum_words)(levels, words, weighed, dims, heavy_from, sums);
}

}  // namespace polarquant
#endif
