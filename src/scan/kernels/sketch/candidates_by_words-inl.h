// SPDX-License-Identifier: MIT
// The first stage for one query on targets that have no form of their own.
#if defined(POLARQUANT_CANDIDATES_BY_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_CANDIDATES_BY_WORDS_INL_H_
#undef POLARQUANT_CANDIDATES_BY_WORDS_INL_H_
#else
#define POLARQUANT_CANDIDATES_BY_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/sketch/linear_bound-inl.h"
#include "src/scan/kernels/sketch/weighted_counts-inl.h"

#if HWY_TARGET != HWY_AVX3_DL && HWY_TARGET != HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
void survivors_of_blocks(const SignBlocks& blocks, SurvivorSearch* search) {
  const SurvivorLine& line = search->line;
  BlockFactors factors;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    factors.load(block, kForm, kL2);
    for (int row = 0; row < block.room; ++row) {
      if ((block.allowed >> row & 1) == 0) continue;
      const uint64_t* words =
          block.words + row / kGroupRows * kWords * kGroupRows + row % kGroupRows;
      int distance = 0;
      for (int word = 0; word < kWords; ++word) {
        const auto at = static_cast<size_t>(word);
        distance += word_distance(*search->query, at,
                                  words[word * kGroupRows] ^ search->query->sign_words[at]);
      }
      const float offset = line.base + line.weight * factors.constant[row];
      const float bound =
          factors.norm[row] * (line.height - line.tilt * static_cast<float>(distance)) + offset;
      if (!(bound >= line.threshold)) continue;
      search->found.survivors[search->found.count] =
          survivor_of(block.first + static_cast<uint32_t>(row), distance);
      search->found.bounds[search->found.count++] = bound;
    }
  }
}

#else

// Two vectors of 64-bit lanes at a time, brought together as 32-bit lanes.
template <int kWords, bool kThirdBit, FactorForm kForm, bool kL2>
HWY_ATTR void survivors_of_blocks(const SignBlocks& blocks, SurvivorSearch* search) {
  const hn::Repartition<uint32_t, WordLanes> d32;
  constexpr int kVectorRows = static_cast<int>(hn::MaxLanes(WordLanes()));
  const FrontDistances<kWords, kThirdBit> front(*search->query);
  LineOfBlock<decltype(d32)> line(search->line);
  RowsOfBlocks found(&search->found);
  BlockFactors factors;
  for (int i = blocks.first; i < blocks.end; ++i) {
    const SignBlock block = blocks.block(i);
    factors.load(block, kForm, kL2);
    const auto words_of = [&](int row) {
      return block.words + static_cast<size_t>(row / kGroupRows) * kWords * kGroupRows +
             row % kGroupRows;
    };
    HeldRows* held = found.held();
    uint64_t reached = 0;
    for (int row = 0; row < block.room; row += 2 * kVectorRows) {
      // A last group alone is paired with itself: the places behind it have no rows.
      const int second = row + kVectorRows < block.room ? row + kVectorRows : row;
      const auto low = front.of(words_of(row));
      const auto high = front.of(words_of(second));
      const auto both = hn::ConcatEven(d32, hn::BitCast(d32, high), hn::BitCast(d32, low));
      hn::Store(both, d32, held->distances + row);
      reached |= line.reached(row, factors, held);
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
