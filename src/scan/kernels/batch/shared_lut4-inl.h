// SPDX-License-Identifier: MIT
// Shared sketches where tables have 16 entries: four coordinates make an index (sign_tables-inl.h).
#if defined(POLARQUANT_SHARED_LUT4_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SHARED_LUT4_INL_H_
#undef POLARQUANT_SHARED_LUT4_INL_H_
#else
#define POLARQUANT_SHARED_LUT4_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/scan/kernels/batch/shared_thresholds-inl.h"
#include "src/scan/kernels/bounds/block_factors-inl.h"
#include "src/scan/kernels/sketch/sign_tables-inl.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !POLAR_SIMD_VBMI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// For four signs of a query and, above them, one bit of the weights there: in how many of these
/// bits each of the 16 patterns of a row's signs differs.
struct Lut4Counts {
  alignas(16) uint8_t counts[256][kTableEntries];

  constexpr Lut4Counts() : counts() {
    for (unsigned query = 0; query < 256; ++query) {
      for (unsigned way = 0; way < kTableEntries; ++way)
        counts[query][way] = static_cast<uint8_t>(std::popcount((way ^ query) & 15 & query >> 4));
    }
  }
};
constexpr Lut4Counts kLut4Counts;

/// Parts of each four coordinates: signs, and above them one bit of weights, then the other.
inline constexpr size_t kPartsOfWord = size_t{2} * kLut4GroupsPerWord;
inline void set_parts(uint64_t signs, uint64_t ones, uint64_t twos, uint8_t* parts) {
  for (int i = 0; i < kLut4GroupsPerWord; ++i, signs >>= 4, ones >>= 4, twos >>= 4) {
    *parts++ = static_cast<uint8_t>((signs & 15) | (ones & 15) << 4);
    *parts++ = static_cast<uint8_t>((signs & 15) | (twos & 15) << 4);
  }
}

static_assert(sizeof(SignLut4Groups) == SharedSketches::kMostPlanes * kBlockRows);
inline const SignLut4Groups& lut4_groups_of(const SharedSketches& sketches, int block) {
  return reinterpret_cast<const SignLut4Groups*>(sketches.planes)[block];
}

HWY_ATTR inline void lay_out(const ScanCodec& codec, const ScanTile& tile, int first_block,
                             int end_block, SharedSketches* sketches) {
  const BlockLayout& layout = codec.layout();
  const bool l2 = codec.metric() == Metric::l2;
  sketches->blocks = end_block - first_block;
  sketches->most_inverse = 0;
  sketches->most_ratio = 0;
  for (int i = 0; i < sketches->blocks; ++i) {
    const uint8_t* sketch = tile.sketch[first_block + i];
    const int capacity = tile.capacity[first_block + i];
    reinterpret_cast<SignLut4Groups*>(sketches->planes)[i].load(
        reinterpret_cast<const uint64_t*>(sketch), layout.sketch_words(), capacity);
    alignas(64) float scales[kBlockRows] = {};
    alignas(64) float biases[kBlockRows] = {};
    widen_factors(codec.factor_format(), sketch + layout.factors_offset(capacity), capacity, scales,
                  biases);
    sketches->allowed[i] = tile.allowed[first_block + i];
    sketches->without_threshold[i] = 0;
    for (int row = 0; row < kBlockRows; ++row) {
      const float norm = l2 ? biases[row] : scales[row];
      const float constant = l2 ? norm * norm : biases[row];
      const bool has_threshold = norm >= SharedSketches::kLeastNorm &&
                                 std::fabs(constant) <= SharedSketches::kMostRatio * norm;
      const float inverse = has_threshold ? 1 / norm : 0;
      const float ratio = has_threshold ? constant * inverse : 0;
      sketches->without_threshold[i] |= uint64_t{has_threshold ? 0U : 1U} << row;
      sketches->inverse_norms[i][row] = inverse;
      sketches->ratios[i][row] = ratio;
      sketches->most_inverse = std::max(sketches->most_inverse, inverse);
      sketches->most_ratio = std::max(sketches->most_ratio, std::fabs(ratio));
    }
  }
  shorten(sketches);
}

/// A bit for each row whose distance is at most the threshold, in the order of rows.
HWY_ATTR HWY_INLINE uint64_t bits_within(hn::Vec<RowBytes> distances,
                                         hn::Vec<RowBytes> thresholds) {
  const RowBytes d;
  auto beyond = hn::SaturatedSub(distances, thresholds);
  if constexpr (kRegisterRows > kTableEntries) {
    // The halves take turns by four rows.
    const hn::Repartition<uint32_t, RowBytes> d32;
    alignas(32) static constexpr uint32_t kInTurns[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    beyond = hn::BitCast(
        d, hn::TableLookupLanes(hn::BitCast(d32, beyond), hn::SetTableIndices(d32, kInTurns)));
  }
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, hn::Eq(beyond, hn::Zero(d)), bytes);
  uint32_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

/// Writes the rows of `mask`, of 64 from `first` on, and returns how many they are. It writes four
/// even where there are fewer: few blocks have more, and a branch on the number is not predictable.
HWY_INLINE int write_rows(uint64_t mask, int first, uint16_t* rows) {
  const int count = std::popcount(mask);
  for (int written = 0; written == 0 || written < count; written += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i, mask &= mask - 1)
      rows[written + i] = static_cast<uint16_t>(first + std::countr_zero(mask));
  }
  return count;
}

/// A query's tables.
struct SketchTables {
  alignas(64) uint8_t entries[SharedSketches::kMostPlanes][kTableEntries];

  template <bool kThirdBit>
  HWY_ATTR HWY_INLINE void make(const SketchQuery& query, int lut4_groups) {
    const hn::FixedTag<uint8_t, kTableEntries> d;
    for (int at = 0; at < lut4_groups; ++at) {
      const auto counts = [&](uint8_t part)
                              HWY_ATTR { return hn::Load(d, kLut4Counts.counts[part]); };
      auto twos = counts(query.parts[2 * at + 1]);
      if (kThirdBit && at < kLut4GroupsPerWord) {
        const auto fours = counts(query.third_parts[2 * at]);
        twos = hn::Add(twos, hn::Add(fours, fours));
      }
      hn::Store(hn::Add(counts(query.parts[2 * at]), hn::Add(twos, twos)), d, entries[at]);
    }
  }
};

/// Queries, by registers of rows, that are looked up at a time: sums of eight stay in registers,
/// with six loads for eight lookups.
inline constexpr int kSelectedTogether = kRegisterRows == 32 ? 4 : 2;
inline constexpr int kRegistersTogether = 8 / kSelectedTogether;

/// Tables of some queries, and the sums that rows find in them.
template <int kQueries>
struct Lookups {
  using Distances = hn::Vec<RowBytes>[kQueries][kRegistersTogether];

  SketchTables tables[kQueries];

  static HWY_ATTR HWY_INLINE void clear(Distances& distances) {
#pragma GCC unroll 4
    for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 4
      for (int i = 0; i < kRegistersTogether; ++i) distances[q][i] = hn::Zero(RowBytes());
  }

  /// Adds the distances of LUT groups begin … end−1, for the rows that begin at `rows`.
  HWY_ATTR HWY_INLINE void look_up(const uint8_t* rows, int begin, int end,
                                   Distances& distances) const {
    const RowBytes d;
    for (int at = begin; at < end; ++at) {
      hn::Vec<RowBytes> groups[kRegistersTogether];
#pragma GCC unroll 4
      for (int i = 0; i < kRegistersTogether; ++i)
        groups[i] = hn::Load(d, rows + at * kBlockRows + i * kRegisterRows);
#pragma GCC unroll 4
      for (int q = 0; q < kQueries; ++q) {
        const auto table = hn::LoadDup128(d, tables[q].entries[at]);
#pragma GCC unroll 4
        for (int i = 0; i < kRegistersTogether; ++i)
          distances[q][i] = hn::Add(distances[q][i], hn::TableLookupBytes(table, groups[i]));
      }
    }
  }
};

// Saturating additions come between sums of words only, and thresholds have 16 bits: both are
// faster (docs/dev/tuning.md, "Kernels").
template <bool kThirdBit, int kQueries>
HWY_ATTR void select_by_sketches(const ScanCodec& codec, const SharedSketches& sketches,
                                 const SketchSelection* selections) {
  const int words = codec.layout().sketch_words();
  Lookups<kQueries> lookups;
  SketchThresholds thresholds[kQueries];
  uint16_t* rows[kQueries];
  for (int q = 0; q < kQueries; ++q) {
    lookups.tables[q].template make<kThirdBit>(*selections[q].query, words * kLut4GroupsPerWord);
    thresholds[q] = SketchThresholds(selections[q], sketches);
    rows[q] = selections[q].candidates->rows;
  }
  for (int block = 0; block < sketches.blocks; ++block) {
    uint64_t reached[kQueries] = {};
    for (int first = 0; first < kBlockRows; first += kRegistersTogether * kRegisterRows) {
      const uint8_t* groups = lut4_groups_of(sketches, block).rows[0] + first;
      // A distance beyond a byte counts as 255.
      typename Lookups<kQueries>::Distances distances;
      lookups.clear(distances);
      for (int sum = 0; first_word_of_sum(sum, kThirdBit) < words; ++sum) {
        typename Lookups<kQueries>::Distances some;
        lookups.clear(some);
        const int end_word = std::min(first_word_of_sum(sum + 1, kThirdBit), words);
        lookups.look_up(groups, first_word_of_sum(sum, kThirdBit) * kLut4GroupsPerWord,
                        end_word * kLut4GroupsPerWord, some);
#pragma GCC unroll 4
        for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 4
          for (int i = 0; i < kRegistersTogether; ++i)
            distances[q][i] = hn::SaturatedAdd(distances[q][i], some[q][i]);
      }
#pragma GCC unroll 4
      for (int q = 0; q < kQueries; ++q) {
#pragma GCC unroll 4
        for (int i = 0; i < kRegistersTogether; ++i) {
          const int row = first + i * kRegisterRows;
          reached[q] |= bits_within(distances[q][i], thresholds[q].at(sketches, block, row)) << row;
        }
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      rows[q] +=
          write_rows((reached[q] | sketches.without_threshold[block]) & sketches.allowed[block],
                     block * kBlockRows, rows[q]);
    }
  }
  for (int q = 0; q < kQueries; ++q)
    selections[q].candidates->count = static_cast<int>(rows[q] - selections[q].candidates->rows);
}

template <bool kThirdBit>
HWY_ATTR void select_each(const ScanCodec& codec, const SharedSketches& sketches,
                          const SketchSelection* selections, int count) {
  int i = 0;
  for (; i + kSelectedTogether <= count; i += kSelectedTogether)
    select_by_sketches<kThirdBit, kSelectedTogether>(codec, sketches, selections + i);
  for (; i < count; ++i) select_by_sketches<kThirdBit, 1>(codec, sketches, selections + i);
}

HWY_ATTR inline void selection(const ScanCodec& codec, const SharedSketches& sketches,
                               const SketchSelection* selections, int count) {
  if (codec.has_third_bit()) return select_each<true>(codec, sketches, selections, count);
  select_each<false>(codec, sketches, selections, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
