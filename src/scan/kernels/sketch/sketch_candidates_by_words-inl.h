// SPDX-License-Identifier: MIT
// The first stage for one query on targets that have no form of their own.
#if defined(POLARQUANT_SKETCH_CANDIDATES_BY_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SKETCH_CANDIDATES_BY_WORDS_INL_H_
#undef POLARQUANT_SKETCH_CANDIDATES_BY_WORDS_INL_H_
#else
#define POLARQUANT_SKETCH_CANDIDATES_BY_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/sketch/linear_bound-inl.h"
#include "src/scan/kernels/sketch/weighted_counts-inl.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_VPOPCNT && !(POLAR_SIMD_AVX2 && !POLAR_SIMD_AVX512)
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_SCALAR

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
void candidates_of_blocks(const SignBlocks& blocks, CandidateSearch* search) {
  const LinearBound& linear = search->linear_bound;
  BlockFactors factors;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    factors.load(block, {kForm, !kL2});
    for (int row = 0; row < block.capacity; ++row) {
      if ((block.allowed >> row & 1) == 0) continue;
      const uint64_t* words =
          block.words + row / kGroupRows * kWords * kGroupRows + row % kGroupRows;
      int distance = 0;
      for (int word = 0; word < kWords; ++word) {
        const auto at = static_cast<size_t>(word);
        distance += word_distance(*search->query, at,
                                  words[word * kGroupRows] ^ search->query->sign_words[at]);
      }
      const float offset = linear.base + linear.weight * factors.constant[row];
      const float bound =
          factors.norm[row] * (linear.height - linear.tilt * static_cast<float>(distance)) + offset;
      if (!(bound >= linear.threshold)) continue;
      search->found.candidates[search->found.count] =
          candidate_of(block.first + static_cast<uint32_t>(row), distance);
      search->found.bounds[search->found.count++] = bound;
    }
  }
}

#else

// Two vectors of 64-bit lanes at a time, brought together as 32-bit lanes.
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR void candidates_of_blocks(const SignBlocks& blocks, CandidateSearch* search) {
  const hn::Repartition<uint32_t, WordLanes> d32;
  constexpr int kVectorRows = static_cast<int>(hn::MaxLanes(WordLanes()));
  const SketchDistances<kWords, kThirdBit> sketch(*search->query);
  BlockLinearBound<decltype(d32)> bound(search->linear_bound);
  RowsOfBlocks found(&search->found);
  BlockFactors factors;
  const bool skips = blocks.tile.is_filtered;  // groups that a filter keeps no row of: not read
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    factors.load(block, {kForm, !kL2});
    const auto words_of = [&](int row) {
      return block.words + static_cast<size_t>(row / kGroupRows) * kWords * kGroupRows +
             row % kGroupRows;
    };
    BlockDistances* computed = found.computed();
    uint64_t reached = 0;
    for (int row = 0; row < block.capacity; row += 2 * kVectorRows) {
      constexpr uint64_t kRows = (uint64_t{1} << 2 * kVectorRows) - 1;
      if (skips && (block.allowed >> row & kRows) == 0) continue;
      // A last group alone is paired with itself: the places after it have no rows.
      const int second = row + kVectorRows < block.capacity ? row + kVectorRows : row;
      const auto low = sketch.distances(words_of(row));
      const auto high = sketch.distances(words_of(second));
      const auto both = hn::ConcatEven(d32, hn::BitCast(d32, high), hn::BitCast(d32, low));
      hn::Store(both, d32, computed->distances + row);
      reached |= bound.reached(row, factors, computed);
    }
    found.add(block.first, reached & block.allowed);
  }
  found.finish();
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
