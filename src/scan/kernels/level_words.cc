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

/// The largest level of a word that is not heavy.
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

#elif HWY_TARGET != HWY_AVX3_DL

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

#if HWY_TARGET == HWY_AVX3_DL

/// Four words at a time: sums over lanes, roots and quotients cost no more than for one. Words
/// behind the last are read as zeros.
struct FourWords {
  __m512i values[4];
  __m512i magnitudes[4];

  HWY_ATTR HWY_INLINE FourWords(const int8_t* levels, int words) {
    for (int i = 0; i < 4; ++i) {
      values[i] =
          i < words ? _mm512_load_si512(levels + i * kSegmentLanes) : _mm512_setzero_si512();
      magnitudes[i] = _mm512_abs_epi8(values[i]);
    }
  }

  /// Of each word Σ a·b over the lanes.
  HWY_ATTR HWY_INLINE static __m128i sums(const __m512i (&a)[4], const __m512i (&b)[4]) {
    const __m512i zero = _mm512_setzero_si512();
    return sum_each(dot_bytes(zero, a[0], b[0]), dot_bytes(zero, a[1], b[1]),
                    dot_bytes(zero, a[2], b[2]), dot_bytes(zero, a[3], b[3]));
  }
};

HWY_ATTR void sum_words(const int8_t* levels, int words, int weighed, int dims, float heavy_from,
                        LevelWord* sums) {
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i ones[4] = {one, one, one, one};
  for (int first = 0; first < words; first += 4) {
    const int count = std::min(4, words - first);
    const FourWords four(levels + first * kSegmentLanes, count);
    const __m128i squares = FourWords::sums(four.magnitudes, four.magnitudes);
    alignas(16) int32_t sum[4];
    alignas(16) int32_t square[4];
    alignas(16) int32_t magnitude[4];
    _mm_store_si128(reinterpret_cast<__m128i*>(sum), FourWords::sums(ones, four.values));
    _mm_store_si128(reinterpret_cast<__m128i*>(square), squares);
    _mm_store_si128(reinterpret_cast<__m128i*>(magnitude), FourWords::sums(four.magnitudes, ones));
    for (int i = 0; i < count; ++i) {
      sums[first + i] = {};
      sums[first + i].negative = _mm512_movepi8_mask(four.values[i]);
      sums[first + i].sum = sum[i];
      sums[first + i].squares = square[i];
      sums[first + i].magnitudes = magnitude[i];
    }
    if (first >= weighed) continue;
    alignas(16) float dims_of[4];
    for (int i = 0; i < 4; ++i) {
      const int left = dims - (first + i) * kSegmentLanes;
      dims_of[i] = static_cast<float>(std::clamp(left, 1, kSegmentLanes));
    }
    // largest_light() of each.
    const __m128 mean = _mm_div_ps(_mm_cvtepi32_ps(squares), _mm_load_ps(dims_of));
    alignas(16) int32_t light[4];
    _mm_store_si128(
        reinterpret_cast<__m128i*>(light),
        _mm_min_epi32(_mm_cvttps_epi32(_mm_mul_ps(_mm_set1_ps(heavy_from), _mm_sqrt_ps(mean))),
                      _mm_set1_epi32(kMaxLevel)));
    __m512i heavy[4];
    for (int i = 0; i < 4; ++i) {
      const __m512i of = _mm512_set1_epi8(static_cast<int8_t>(light[i]));
      const __mmask64 is_heavy = _mm512_cmpgt_epi8_mask(four.magnitudes[i], of);
      heavy[i] = _mm512_maskz_mov_epi8(is_heavy, four.magnitudes[i]);
      if (first + i < weighed) sums[first + i].heavy = is_heavy;
    }
    _mm_store_si128(reinterpret_cast<__m128i*>(magnitude), FourWords::sums(heavy, ones));
    for (int i = 0; i < std::min(count, weighed - first); ++i) {
      sums[first + i].heavy_magnitudes = magnitude[i];
      sums[first + i].heavy_count = std::popcount(sums[first + i].heavy);
    }
  }
}

#else

HWY_ATTR void sum_words(const int8_t* levels, int words, int weighed, int dims, float heavy_from,
                        LevelWord* sums) {
  for (int word = 0; word < words; ++word) {
    const int of_word = std::min(kSegmentLanes, dims - word * kSegmentLanes);
    sums[word] = sum_word(levels + word * kSegmentLanes, word < weighed, of_word, heavy_from);
    sums[word].heavy_count = std::popcount(sums[word].heavy);
  }
}

#endif

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
