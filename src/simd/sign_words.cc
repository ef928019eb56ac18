// SPDX-License-Identifier: MIT
#include "src/simd/sign_words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/simd/int8_values.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/sign_words.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The largest value of a word that is not above a border, which is given in root mean squares.
inline int largest_below(float border, int32_t squares, int dims) {
  const float mean_square = static_cast<float>(squares) / static_cast<float>(std::max(dims, 1));
  return std::min(kMaxInt8, static_cast<int>(border * std::sqrt(mean_square)));
}

/// Writes weights as binary numbers: beyond[i] has the values that weigh more than i.
inline void set_planes(const uint64_t* beyond, size_t borders, WordWeights* weights) {
  uint64_t odd = 0;
  for (size_t i = 0; i < borders; ++i) odd ^= beyond[i];
  weights->ones = odd;
  weights->twos = borders > 3 ? beyond[1] ^ beyond[3] ^ beyond[5] : beyond[1];
  weights->fours = borders > 3 ? beyond[3] : 0;
}

#if POLAR_SIMD_SCALAR

SignWord sum_word(const int8_t* values) {
  SignWord word;
  for (int j = 0; j < kSegmentDims; ++j) {
    word.negative |= static_cast<uint64_t>(values[j] < 0) << j;
    word.sum += values[j];
    word.squares += values[j] * values[j];
  }
  return word;
}

WordWeights weigh_word(const int8_t* values, const SignWord& word, int dims,
                       std::span<const float> borders) {
  WordWeights weights;
  int below[kMostBorders];
  for (size_t i = 0; i < borders.size(); ++i)
    below[i] = largest_below(borders[i], word.squares, dims);
  uint64_t beyond[kMostBorders] = {};
  for (int j = 0; j < kSegmentDims; ++j) {
    const int magnitude = std::abs(values[j]);
    int weight = 0;
    for (size_t i = 0; i < borders.size(); ++i) {
      if (magnitude <= below[i]) break;
      beyond[i] |= uint64_t{1} << j;
      ++weight;
    }
    weights.sum += weight;
    weights.squares += weight * weight;
    weights.along += weight * magnitude;
  }
  set_planes(beyond, borders.size(), &weights);
  return weights;
}

#elif !POLAR_SIMD_VNNI

/// 64 numbers in registers of 16 bits.
struct WideWord {
  using D = hn::CappedTag<int16_t, 32>;

  alignas(64) int16_t wide[kSegmentDims];

  /// Widens values to such numbers.
  explicit HWY_ATTR HWY_INLINE WideWord(const int8_t* values) {
    const D d;
    const hn::Rebind<int8_t, D> d8;
    const int lanes = static_cast<int>(hn::Lanes(d));
    for (int j = 0; j < kSegmentDims; j += lanes)
      hn::Store(hn::PromoteTo(d, hn::LoadU(d8, values + j)), d, wide + j);
  }

  /// Bits of the lanes for which `test` holds.
  template <class Test>
  HWY_ATTR HWY_INLINE uint64_t bits(const Test& test) const {
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    uint64_t all = 0;
    for (int j = 0; j < kSegmentDims; j += lanes) {
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
  HWY_ATTR HWY_INLINE int32_t sum(const A& a, const B& b) const {
    const D d;
    const hn::Repartition<int32_t, D> d32;
    const int lanes = static_cast<int>(hn::Lanes(d));
    auto sums = hn::Zero(d32);
    auto more = hn::Zero(d32);
    for (int j = 0; j < kSegmentDims; j += lanes) {
      const auto value = hn::Load(d, wide + j);
      sums = hn::ReorderWidenMulAccumulate(d32, a(value), b(value), sums, more);
    }
    return hn::GetLane(hn::SumOfLanes(d32, hn::Add(sums, more)));
  }
};

HWY_ATTR SignWord sum_word(const int8_t* values) {
  const WideWord::D d;
  using V = hn::Vec<WideWord::D>;
  const WideWord wide(values);
  const auto one = hn::Set(d, int16_t{1});
  const auto itself = [](V v) HWY_ATTR { return v; };
  const auto ones = [one](V) HWY_ATTR { return one; };
  SignWord word;
  word.negative = wide.bits([d](V v) HWY_ATTR { return hn::Lt(v, hn::Zero(d)); });
  word.sum = wide.sum(itself, ones);
  word.squares = wide.sum(itself, itself);
  return word;
}

HWY_ATTR WordWeights weigh_word(const int8_t* values, const SignWord& word, int dims,
                                std::span<const float> borders) {
  const WideWord::D d;
  using V = hn::Vec<WideWord::D>;
  const WideWord wide(values);
  int16_t below[kMostBorders];
  uint64_t beyond[kMostBorders];
  for (size_t i = 0; i < borders.size(); ++i) {
    below[i] = static_cast<int16_t>(largest_below(borders[i], word.squares, dims));
    const auto largest = hn::Set(d, below[i]);
    beyond[i] = wide.bits([largest](V v) HWY_ATTR { return hn::Gt(hn::Abs(v), largest); });
  }
  const auto one = hn::Set(d, int16_t{1});
  const auto magnitude = [](V v) HWY_ATTR { return hn::Abs(v); };
  const auto ones = [one](V) HWY_ATTR { return one; };
  const auto weight = [&](V v) HWY_ATTR {
    auto count = hn::Zero(d);
    for (size_t i = 0; i < borders.size(); ++i) {
      const auto more = hn::Gt(hn::Abs(v), hn::Set(d, below[i]));
      count = hn::Add(count, hn::IfThenElseZero(more, one));
    }
    return count;
  };
  WordWeights weights;
  weights.sum = wide.sum(weight, ones);
  weights.squares = wide.sum(weight, weight);
  weights.along = wide.sum(weight, magnitude);
  set_planes(beyond, borders.size(), &weights);
  return weights;
}

#endif

#if POLAR_SIMD_VNNI

HWY_ATTR HWY_INLINE void store(int32_t* four, __m128i values) {
  _mm_store_si128(reinterpret_cast<__m128i*>(four), values);
}

/// Four words at a time: sums over lanes, roots and quotients cost no more than for one. Words
/// after the last are read as zeros.
struct FourWords {
  __m512i values[4];
  __m512i magnitudes[4];

  HWY_ATTR HWY_INLINE FourWords(const int8_t* from, int words) {
    for (int i = 0; i < 4; ++i) {
      values[i] = i < words ? _mm512_load_si512(from + i * kSegmentDims) : _mm512_setzero_si512();
      magnitudes[i] = _mm512_abs_epi8(values[i]);
    }
  }

  /// Σ a·b over the lanes of each word.
  HWY_ATTR HWY_INLINE static __m128i sums(const __m512i (&a)[4], const __m512i (&b)[4]) {
    const __m512i zero = _mm512_setzero_si512();
    return sum_each(dot_bytes(zero, a[0], b[0]), dot_bytes(zero, a[1], b[1]),
                    dot_bytes(zero, a[2], b[2]), dot_bytes(zero, a[3], b[3]));
  }
};

HWY_ATTR void sum_words(const int8_t* values, int words, SignWord* sums) {
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i ones[4] = {one, one, one, one};
  for (int first = 0; first < words; first += 4) {
    const int count = std::min(4, words - first);
    const FourWords four(values + first * kSegmentDims, count);
    alignas(16) int32_t sum[4];
    alignas(16) int32_t square[4];
    store(sum, FourWords::sums(ones, four.values));
    store(square, FourWords::sums(four.magnitudes, four.magnitudes));
    for (int i = 0; i < count; ++i)
      sums[first + i] = {_mm512_movepi8_mask(four.values[i]), sum[i], square[i]};
  }
}

HWY_ATTR void weigh_words(const int8_t* values, const SignWord* words, int count, int dims,
                          std::span<const float> borders, WordWeights* weights) {
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i ones[4] = {one, one, one, one};
  for (int first = 0; first < count; first += 4) {
    const int some = std::min(4, count - first);
    const FourWords four(values + first * kSegmentDims, some);
    alignas(16) int32_t square[4] = {};
    alignas(16) float dims_of[4];
    for (int i = 0; i < 4; ++i) {
      if (i < some) square[i] = words[first + i].squares;
      dims_of[i] =
          static_cast<float>(std::clamp(dims - (first + i) * kSegmentDims, 1, kSegmentDims));
    }
    const __m128 root = _mm_sqrt_ps(
        _mm_div_ps(_mm_cvtepi32_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(square))),
                   _mm_load_ps(dims_of)));
    uint64_t beyond[4][kMostBorders];
    __m512i weight[4] = {};
    for (size_t border = 0; border < borders.size(); ++border) {
      // largest_below() of each.
      alignas(16) int32_t below[4];
      store(below, _mm_min_epi32(_mm_cvttps_epi32(_mm_mul_ps(_mm_set1_ps(borders[border]), root)),
                                 _mm_set1_epi32(kMaxInt8)));
      for (int i = 0; i < 4; ++i) {
        const __mmask64 more = _mm512_cmpgt_epi8_mask(
            four.magnitudes[i], _mm512_set1_epi8(static_cast<int8_t>(below[i])));
        weight[i] = _mm512_mask_add_epi8(weight[i], more, weight[i], one);
        beyond[i][border] = more;
      }
    }
    alignas(16) int32_t sum[4];
    alignas(16) int32_t along[4];
    store(sum, FourWords::sums(weight, ones));
    store(square, FourWords::sums(weight, weight));
    store(along, FourWords::sums(four.magnitudes, weight));
    for (int i = 0; i < some; ++i) {
      WordWeights& word_weights = weights[first + i];
      set_planes(beyond[i], borders.size(), &word_weights);
      word_weights.sum = sum[i];
      word_weights.squares = square[i];
      word_weights.along = along[i];
    }
  }
}

#else

HWY_ATTR void sum_words(const int8_t* values, int words, SignWord* sums) {
  for (int word = 0; word < words; ++word) sums[word] = sum_word(values + word * kSegmentDims);
}

HWY_ATTR void weigh_words(const int8_t* values, const SignWord* words, int count, int dims,
                          std::span<const float> borders, WordWeights* weights) {
  for (int word = 0; word < count; ++word) {
    const int word_dims = std::min(kSegmentDims, dims - word * kSegmentDims);
    weights[word] = weigh_word(values + word * kSegmentDims, words[word], word_dims, borders);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(sum_words);
HWY_EXPORT(weigh_words);

void sum_sign_words(const int8_t* values, int words, SignWord* sums) {
  HWY_DYNAMIC_DISPATCH(sum_words)(values, words, sums);
}
void weigh_values(const int8_t* values, const SignWord* words, int count, int dims,
                  std::span<const float> borders, WordWeights* weights) {
  HWY_DYNAMIC_DISPATCH(weigh_words)(values, words, count, dims, borders, weights);
}

}  // namespace polarquant
#endif
