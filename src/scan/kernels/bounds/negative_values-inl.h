// SPDX-License-Identifier: MIT
// The sum of a query's values by signs of a row: Σ value·(±1) is Σ values − 2·Σ of those whose sign
// bit is 1.
#if defined(POLARQUANT_NEGATIVE_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_NEGATIVE_VALUES_INL_H_
#undef POLARQUANT_NEGATIVE_VALUES_INL_H_
#else
#define POLARQUANT_NEGATIVE_VALUES_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "src/scan/model/scan_codec.h"
#include "src/simd/byte_mask-inl.h"
#include "src/simd/capabilities.h"
#include "src/simd/four_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_AVX2

#if POLAR_SIMD_VNNI

/// Adds the values of a word whose sign bit is 1 to a register's lanes: a mask makes the bits bytes
/// of 1, which VNNI multiplies with the values.
class NegativeInt8 {
 public:
  explicit HWY_ATTR HWY_INLINE NegativeInt8(const int8_t* values)
      : values_(_mm512_load_si512(values)) {}
  HWY_ATTR HWY_INLINE DotSums add(DotSums sums, uint64_t signs) const {
    return dot_bytes(sums, _mm512_maskz_mov_epi8(signs, _mm512_set1_epi8(1)), values_);
  }

 private:
  __m512i values_;
};

#else

/// The same with AVX2: bits become bytes by a shuffle and a comparison, and two values fit 16 bits.
class NegativeInt8 {
 public:
  explicit HWY_ATTR HWY_INLINE NegativeInt8(const int8_t* values)
      : low_(_mm256_load_si256(reinterpret_cast<const __m256i*>(values))),
        high_(_mm256_load_si256(reinterpret_cast<const __m256i*>(values) + 1)) {}
  HWY_ATTR HWY_INLINE DotSums add(DotSums sums, uint64_t signs) const {
    const __m256i pairs = _mm256_add_epi16(negative(static_cast<uint32_t>(signs), low_),
                                           negative(static_cast<uint32_t>(signs >> 32), high_));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }

 private:
  static HWY_ATTR HWY_INLINE __m256i negative(uint32_t signs, __m256i values) {
    return _mm256_maddubs_epi16(_mm256_set1_epi8(1), _mm256_and_si256(byte_mask(signs), values));
  }

  __m256i low_, high_;
};

#endif

/// Σ of the values, (words · 64), whose bit of word_of(word) is 1.
template <class WordOf>
HWY_ATTR HWY_INLINE int32_t negative_int8(const int8_t* values, int words, const WordOf& word_of) {
  DotSums sums = no_sums();
  for (int word = 0; word < words; ++word, values += kSegmentDims)
    sums = NegativeInt8(values).add(sums, word_of(word));
  return sum_lanes(sums);
}

#elif POLAR_SIMD_SCALAR

template <class WordOf>
int32_t negative_int8(const int8_t* values, int words, const WordOf& word_of) {
  int32_t sum = 0;
  for (int word = 0; word < words; ++word, values += kSegmentDims) {
    for (uint64_t left = word_of(word); left != 0; left &= left - 1)
      sum += values[std::countr_zero(left)];
  }
  return sum;
}

#else

// Values are biased to value + 128, a byte without sign, which sums of bytes can add up; the number
// of bits takes the bias out.
template <class WordOf>
HWY_ATTR HWY_INLINE int32_t negative_int8(const int8_t* values, int words, const WordOf& word_of) {
  const hn::CappedTag<uint8_t, kSegmentDims> d8;
  const hn::Rebind<int8_t, decltype(d8)> d8_signed;
  const auto bias = hn::Set(d8, uint8_t{128});
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t lanes = hn::Lanes(d8);
  auto sums = hn::Zero(d64);
  int bits = 0;
  for (int i = 0; i < words; ++i, values += kSegmentDims) {
    const uint64_t word = word_of(i);
    alignas(8) uint8_t mask_bits[16] = {};
    std::memcpy(mask_bits, &word, sizeof word);
    bits += std::popcount(word);
    for (size_t position = 0; position < kSegmentDims; position += lanes) {
      const auto negative = hn::LoadMaskBits(d8, mask_bits + position / 8);
      const auto biased = hn::Xor(hn::BitCast(d8, hn::Load(d8_signed, values + position)), bias);
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
