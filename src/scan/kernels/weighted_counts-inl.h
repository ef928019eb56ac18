// SPDX-License-Identifier: MIT
// The first stage's distance where there is no population count of words: by bytes of 8 rows.
#if defined(POLARQUANT_WEIGHTED_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_WEIGHTED_COUNTS_INL_H_
#undef POLARQUANT_WEIGHTED_COUNTS_INL_H_
#else
#define POLARQUANT_WEIGHTED_COUNTS_INL_H_
#endif

#include <hwy/highway.h>

#include "src/scan/block_layout.h"
#include "src/scan/scan_query.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_AVX3_DL

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordLanes = hn::CappedTag<uint64_t, kGroupRows>;
using ByteLanes = hn::Repartition<uint8_t, WordLanes>;

/// Σ over bytes of the bits that differ, 1 or 3 each. At most 3·8 a word, so that a byte holds the
/// counts of a front, 7·8 for its first word if that has a third bit.
static_assert(3 * 8 * (kMaxFrontWords - 1) + 7 * 8 <= 255);

/// Four for each bit that differs of those in `very_heavy`.
HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> fourfold_counts(hn::Vec<WordLanes> differ,
                                                       uint64_t very_heavy) {
  const WordLanes d64;
  const ByteLanes d8;
  const hn::Repartition<uint16_t, WordLanes> d16;
  const auto bits = hn::And(differ, hn::Set(d64, very_heavy));
#if HWY_ARCH_X86
  alignas(16) static constexpr uint8_t kFourfold[16] = {0, 4, 4, 8,  4, 8,  8,  12,
                                                        4, 8, 8, 12, 8, 12, 12, 16};
  const auto fourfold = hn::LoadDup128(d8, kFourfold);
  const auto nibbles = hn::Set(d8, 0x0F);
  const auto low = hn::And(hn::BitCast(d8, bits), nibbles);
  const auto high = hn::And(hn::BitCast(d8, hn::ShiftRight<4>(hn::BitCast(d16, bits))), nibbles);
  return hn::Add(hn::TableLookupBytes(fourfold, low), hn::TableLookupBytes(fourfold, high));
#else
  // At most 32 a byte: no bit leaves it.
  const auto counts = hn::PopulationCount(hn::BitCast(d8, bits));
  return hn::BitCast(d8, hn::ShiftLeft<2>(hn::BitCast(d16, counts)));
#endif
}

#if HWY_ARCH_X86

/// Counted by tables of four bits, in which shifts and masks serve both weights.
class WeightedCounts {
 public:
  // The compiler's own would lack the target's attributes.
  HWY_ATTR HWY_INLINE WeightedCounts() {}
  explicit HWY_ATTR HWY_INLINE WeightedCounts(uint64_t heavy) {
    const auto bits = hn::BitCast(ByteLanes(), hn::Set(WordLanes(), heavy));
    heavy_low_ = low_nibbles(bits);
    heavy_high_ = high_nibbles(bits);
  }

  HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> of(hn::Vec<WordLanes> differ) const {
    const ByteLanes d8;
    alignas(16) static constexpr uint8_t kOnce[16] = {0, 1, 1, 2, 1, 2, 2, 3,
                                                      1, 2, 2, 3, 2, 3, 3, 4};
    alignas(16) static constexpr uint8_t kTwice[16] = {0, 2, 2, 4, 2, 4, 4, 6,
                                                       2, 4, 4, 6, 4, 6, 6, 8};
    const auto once = hn::LoadDup128(d8, kOnce);
    const auto twice = hn::LoadDup128(d8, kTwice);
    const auto low = low_nibbles(hn::BitCast(d8, differ));
    const auto high = high_nibbles(hn::BitCast(d8, differ));
    return hn::Add(hn::Add(hn::TableLookupBytes(once, low), hn::TableLookupBytes(once, high)),
                   hn::Add(hn::TableLookupBytes(twice, hn::And(low, heavy_low_)),
                           hn::TableLookupBytes(twice, hn::And(high, heavy_high_))));
  }

 private:
  static HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> low_nibbles(hn::Vec<ByteLanes> bits) {
    return hn::And(bits, hn::Set(ByteLanes(), 0x0F));
  }
  static HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> high_nibbles(hn::Vec<ByteLanes> bits) {
    const hn::Repartition<uint16_t, WordLanes> d16;
    return low_nibbles(hn::BitCast(ByteLanes(), hn::ShiftRight<4>(hn::BitCast(d16, bits))));
  }

  hn::Vec<ByteLanes> heavy_low_;
  hn::Vec<ByteLanes> heavy_high_;
};

#else

class WeightedCounts {
 public:
  // The compiler's own would lack the target's attributes.
  HWY_ATTR HWY_INLINE WeightedCounts() {}
  explicit HWY_ATTR HWY_INLINE WeightedCounts(uint64_t heavy)
      : heavy_(hn::Set(WordLanes(), heavy)) {}

  HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> of(hn::Vec<WordLanes> differ) const {
    const ByteLanes d8;
    const auto all = hn::PopulationCount(hn::BitCast(d8, differ));
    const auto heavy = hn::PopulationCount(hn::BitCast(d8, hn::And(differ, heavy_)));
    return hn::Add(all, hn::Add(heavy, heavy));
  }

 private:
  hn::Vec<WordLanes> heavy_;
};

#endif

/// A query against the front's words of as many rows as fill a register.
template <int kWords, bool kThirdBit>
class FrontDistances {
 public:
  explicit HWY_ATTR HWY_INLINE FrontDistances(const ScanQuery& query)
      : very_heavy_(query.very_heavy_word) {
#pragma GCC unroll 4
    for (size_t word = 0; word < kWords; ++word) {
      signs_[word] = hn::Set(WordLanes(), query.sign_words[word]);
      heavy_[word] = WeightedCounts(query.heavy_words[word]);
    }
  }

  /// In 64-bit lanes. A group's next word is kGroupRows words behind.
  HWY_ATTR HWY_INLINE hn::Vec<WordLanes> of(const uint64_t* words) const {
    auto sums = hn::Zero(ByteLanes());
#pragma GCC unroll 4
    for (size_t word = 0; word < kWords; ++word) {
      const auto differ = hn::Xor(signs_[word], hn::Load(WordLanes(), words + word * kGroupRows));
      sums = hn::Add(sums, heavy_[word].of(differ));
      if (kThirdBit && word == 0) sums = hn::Add(sums, fourfold_counts(differ, very_heavy_));
    }
    return hn::SumsOf8(sums);
  }

 private:
  hn::Vec<WordLanes> signs_[kWords];
  WeightedCounts heavy_[kWords];
  uint64_t very_heavy_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif

#endif  // per-target include guard
