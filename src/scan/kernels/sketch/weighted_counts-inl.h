// SPDX-License-Identifier: MIT
// The first stage's distance where there is no population count of words: by bytes of 8 rows.
#if defined(POLARQUANT_WEIGHTED_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_WEIGHTED_COUNTS_INL_H_
#undef POLARQUANT_WEIGHTED_COUNTS_INL_H_
#else
#define POLARQUANT_WEIGHTED_COUNTS_INL_H_
#endif

#include <hwy/highway.h>

#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_query.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !POLAR_SIMD_VPOPCNT

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordLanes = hn::CappedTag<uint64_t, kGroupRows>;
using ByteLanes = hn::Repartition<uint8_t, WordLanes>;

/// Sums over bytes of the weights where signs differ. At most 3·8 a word, so that a byte has space
/// for a sketch, 7·8 for its first word if that has a third bit.
static_assert(3 * 8 * (kMaxSketchWords - 1) + 7 * 8 <= 255);

#if HWY_ARCH_X86

/// Signs that differ, as indices of tables of four bits once they are masked.
struct DifferingSigns {
  hn::Vec<ByteLanes> low;
  hn::Vec<ByteLanes> high;

  explicit HWY_ATTR HWY_INLINE DifferingSigns(hn::Vec<WordLanes> differ)
      : low(hn::BitCast(ByteLanes(), differ)),
        high(hn::BitCast(ByteLanes(), hn::ShiftRight<4>(hn::BitCast(
                                          hn::Repartition<uint16_t, WordLanes>(), differ)))) {}
};

/// Adds kEach in each byte for every differing sign of those in a word.
template <int kEach>
class PlaneCounts {
 public:
  // The compiler's own would lack the target's attributes.
  HWY_ATTR HWY_INLINE PlaneCounts() {}
  explicit HWY_ATTR HWY_INLINE PlaneCounts(uint64_t word)
      : low_(hn::And(DifferingSigns(hn::Set(WordLanes(), word)).low, hn::Set(ByteLanes(), 0x0F))),
        high_(
            hn::And(DifferingSigns(hn::Set(WordLanes(), word)).high, hn::Set(ByteLanes(), 0x0F))) {}

  HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> count(const DifferingSigns& differ) const {
    alignas(16) static constexpr uint8_t kCounts[16] = {
        0,     kEach,     kEach,     2 * kEach, kEach,     2 * kEach, 2 * kEach, 3 * kEach,
        kEach, 2 * kEach, 2 * kEach, 3 * kEach, 2 * kEach, 3 * kEach, 3 * kEach, 4 * kEach};
    const auto counts = hn::LoadDup128(ByteLanes(), kCounts);
    return hn::Add(hn::TableLookupBytes(counts, hn::And(differ.low, low_)),
                   hn::TableLookupBytes(counts, hn::And(differ.high, high_)));
  }

 private:
  hn::Vec<ByteLanes> low_;
  hn::Vec<ByteLanes> high_;
};

#else

struct DifferingSigns {
  hn::Vec<WordLanes> signs;

  explicit HWY_ATTR HWY_INLINE DifferingSigns(hn::Vec<WordLanes> differ) : signs(differ) {}
};

/// Adds kEach, a power of two up to 4, in each byte for every differing sign of those in a word.
template <int kEach>
class PlaneCounts {
 public:
  // The compiler's own would lack the target's attributes.
  HWY_ATTR HWY_INLINE PlaneCounts() {}
  explicit HWY_ATTR HWY_INLINE PlaneCounts(uint64_t word) : word_(hn::Set(WordLanes(), word)) {}

  HWY_ATTR HWY_INLINE hn::Vec<ByteLanes> count(const DifferingSigns& differ) const {
    const hn::Repartition<uint16_t, WordLanes> d16;
    const auto counts = hn::PopulationCount(hn::BitCast(ByteLanes(), hn::And(differ.signs, word_)));
    // At most 32 a byte: no bit leaves it.
    return hn::BitCast(ByteLanes(), hn::ShiftLeft<kEach / 2>(hn::BitCast(d16, counts)));
  }

 private:
  hn::Vec<WordLanes> word_;
};

#endif

/// A query against the sketch's words of as many rows as fill a register.
template <int kWords, bool kThirdBit>
class SketchDistances {
 public:
  explicit HWY_ATTR HWY_INLINE SketchDistances(const ScanQuery& query) : fours_(query.fours_word) {
#pragma GCC unroll 4
    for (size_t word = 0; word < kWords; ++word) {
      signs_[word] = hn::Set(WordLanes(), query.sign_words[word]);
      ones_[word] = PlaneCounts<1>(query.ones_words[word]);
      twos_[word] = PlaneCounts<2>(query.twos_words[word]);
    }
  }

  /// In 64-bit lanes. A group's next word is kGroupRows words later.
  HWY_ATTR HWY_INLINE hn::Vec<WordLanes> distances(const uint64_t* words) const {
    auto sums = hn::Zero(ByteLanes());
#pragma GCC unroll 4
    for (size_t word = 0; word < kWords; ++word) {
      const DifferingSigns differ(
          hn::Xor(signs_[word], hn::Load(WordLanes(), words + word * kGroupRows)));
      sums = hn::Add(sums, hn::Add(ones_[word].count(differ), twos_[word].count(differ)));
      if (kThirdBit && word == 0) sums = hn::Add(sums, fours_.count(differ));
    }
    return hn::SumsOf8(sums);
  }

 private:
  hn::Vec<WordLanes> signs_[kWords];
  PlaneCounts<1> ones_[kWords];
  PlaneCounts<2> twos_[kWords];
  PlaneCounts<4> fours_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif

#endif  // per-target include guard
