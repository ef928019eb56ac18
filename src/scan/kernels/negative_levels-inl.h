// SPDX-License-Identifier: MIT
// What signs of a row say of a query's levels: Σ level·(±1) is Σ levels − 2·Σ of those whose sign
// bit is 1.
#if defined(POLARQUANT_NEGATIVE_LEVELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_NEGATIVE_LEVELS_INL_H_
#undef POLARQUANT_NEGATIVE_LEVELS_INL_H_
#else
#define POLARQUANT_NEGATIVE_LEVELS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/scan_codec.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Σ of the levels, (words · 64), whose bit of word_of(word) is 1.
#if HWY_TARGET == HWY_AVX3_DL

// A mask makes the bits bytes of 1, which VNNI multiplies with the levels.
template <class WordOf>
HWY_ATTR HWY_INLINE int32_t negative_levels(const int8_t* levels, int words,
                                            const WordOf& word_of) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums = _mm512_setzero_si512();
  for (int word = 0; word < words; ++word, levels += kSegmentLanes)
    sums = dot_bytes(sums, _mm512_maskz_mov_epi8(word_of(word), ones), _mm512_load_si512(levels));
  return _mm512_reduce_add_epi32(sums);
}

#elif HWY_TARGET == HWY_SCALAR

template <class WordOf>
int32_t negative_levels(const int8_t* levels, int words, const WordOf& word_of) {
  int32_t sum = 0;
  for (int word = 0; word < words; ++word, levels += kSegmentLanes) {
    for (uint64_t left = word_of(word); left != 0; left &= left - 1)
      sum += levels[std::countr_zero(left)];
  }
  return sum;
}

#else

// Levels are taken biased, level + 128 in a byte without sign, which sums of bytes can add up; the
// bias goes out with the number of bits.
template <class WordOf>
HWY_ATTR HWY_INLINE int32_t negative_levels(const int8_t* levels, int words,
                                            const WordOf& word_of) {
  const hn::CappedTag<uint8_t, kSegmentLanes> d8;
  const hn::Rebind<int8_t, decltype(d8)> d8_signed;
  const auto bias = hn::Set(d8, uint8_t{128});
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t lanes = hn::Lanes(d8);
  auto sums = hn::Zero(d64);
  int bits = 0;
  for (int i = 0; i < words; ++i, levels += kSegmentLanes) {
    const uint64_t word = word_of(i);
    alignas(8) uint8_t mask_bits[16] = {};
    std::memcpy(mask_bits, &word, sizeof word);
    bits += std::popcount(word);
    for (size_t lane = 0; lane < kSegmentLanes; lane += lanes) {
      const auto negative = hn::LoadMaskBits(d8, mask_bits + lane / 8);
      const auto biased = hn::Xor(hn::BitCast(d8, hn::Load(d8_signed, levels + lane)), bias);
      sums = hn::Add(sums, hn::SumsOf8(hn::IfThenElseZero(negative, biased)));
    }
  }
  return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) - 128 * bits;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
