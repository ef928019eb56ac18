// SPDX-License-Identifier: MIT
// The first stage's distance by tables, for several queries and targets without a population count
// of words: one register has the distances that four coordinates of a query give the 16 patterns of
// a row's signs, and is looked up for a register of rows at a time (as in FastScan, André et al.
// 2015). A block's signs are laid out for that once, for all queries.
#if defined(POLARQUANT_SIGN_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SIGN_TABLES_INL_H_
#undef POLARQUANT_SIGN_TABLES_INL_H_
#else
#define POLARQUANT_SIGN_TABLES_INL_H_
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

inline constexpr int kLut4GroupsPerWord = 16;
inline constexpr int kTableEntries = 16;

/// At most 32 bytes: with 64, a block's rows would be one register, and there is AVX3_DL for those.
using RowBytes = hn::CappedTag<uint8_t, 32>;
inline constexpr int kRegisterRows = static_cast<int>(hn::MaxLanes(RowBytes()));

/// Four coordinates of a query a table: the distance of each of the 16 patterns.
struct SignTables {
  alignas(16) uint8_t entries[kMaxSketchWords * kLut4GroupsPerWord][kTableEntries];

  HWY_ATTR void make(const ScanQuery& query) {
    const hn::FixedTag<uint8_t, kTableEntries> d;
    alignas(16) static constexpr uint8_t kOnce[16] = {0, 1, 1, 2, 1, 2, 2, 3,
                                                      1, 2, 2, 3, 2, 3, 3, 4};
    const auto once = hn::Load(d, kOnce);
    for (size_t word = 0; word < query.sketch_words; ++word) {
      for (int lut4_group = 0; lut4_group < kLut4GroupsPerWord; ++lut4_group) {
        const auto bits = [&](uint64_t plane) {
          return hn::Set(d, static_cast<uint8_t>(plane >> (4 * lut4_group) & 15));
        };
        const auto differ = hn::Xor(hn::Iota(d, 0), bits(query.sign_words[word]));
        const auto count = [&](uint64_t plane) HWY_ATTR {
          return hn::TableLookupBytes(once, hn::And(differ, bits(plane)));
        };
        const auto fours = count(word == 0 ? query.fours_word : 0);
        const auto twos = hn::Add(count(query.twos_words[word]), hn::Add(fours, fours));
        hn::Store(hn::Add(count(query.ones_words[word]), hn::Add(twos, twos)), d,
                  entries[word * kLut4GroupsPerWord + static_cast<size_t>(lut4_group)]);
      }
    }
  }
};
/// A word's distance, at most 3 a bit, fits a byte; so does one of three bits (scan_query.cc).
static_assert(3 * 64 <= 255);

/// The signs of a block, four coordinates of its rows side by side. In a register of 32 rows the
/// halves take turns by four rows: distances widened twice within halves then come out in order.
struct SignLut4Groups {
  alignas(64) uint8_t rows[kMaxSketchWords * kLut4GroupsPerWord][kBlockRows];

  /// Places beyond the block's capacity get the signs of other rows.
  HWY_ATTR void load(const uint64_t* words, int sketch_words, int capacity) {
    for (int first = 0; first < kBlockRows; first += kRegisterRows)
      for (int word = 0; word < sketch_words; ++word)
        load_word(words, sketch_words, word, first, capacity);
  }

 private:
  /// A word of two rows, or of rows `row` and row+1 beside row+4 and row+5.
  static HWY_ATTR HWY_INLINE hn::Vec<RowBytes> rows_from(const uint64_t* words, int sketch_words,
                                                         int word, int row, int capacity) {
    const auto group = static_cast<size_t>((row < capacity ? row : 0) / kGroupRows);
    const auto* data = reinterpret_cast<const uint8_t*>(
        words +
        (group * static_cast<size_t>(sketch_words) + static_cast<size_t>(word)) * kGroupRows +
        row % kGroupRows);
    const RowBytes d;
    if constexpr (kRegisterRows == 16) {
      return hn::LoadU(d, data);
    } else {
      const hn::Half<RowBytes> half;
      return hn::Combine(d, hn::LoadU(half, data + 4 * sizeof(uint64_t)), hn::LoadU(half, data));
    }
  }

  /// Four such steps turn sixteen rows of 8 bytes into 8 registers of 16 rows: each moves one bit
  /// of the registers' numbers into places within them, and the highest bit of places out.
  template <int kBit>
  static HWY_ATTR HWY_INLINE void interleave(hn::Vec<RowBytes>* v) {
    const RowBytes d;
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      if ((i & kBit) != 0) continue;
      const auto low = hn::InterleaveLower(d, v[i], v[i | kBit]);
      v[i | kBit] = hn::InterleaveUpper(d, v[i], v[i | kBit]);
      v[i] = low;
    }
  }

  HWY_ATTR HWY_INLINE void load_word(const uint64_t* words, int sketch_words, int word, int first,
                                     int capacity) {
    const RowBytes d;
    hn::Vec<RowBytes> v[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int row = kRegisterRows == 16 ? 2 * i : i / 2 * 8 + i % 2 * 2;
      v[i] = rows_from(words, sketch_words, word, first + row, capacity);
    }
    interleave<4>(v);
    interleave<2>(v);
    interleave<1>(v);
    interleave<4>(v);
    const auto lut4_mask = hn::Set(d, 0x0F);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int byte = i / 4 | (i & 1) << 1 | (i & 2) << 1;
      uint8_t(*lut4_groups)[kBlockRows] = rows + word * kLut4GroupsPerWord + 2 * byte;
      const hn::Repartition<uint16_t, RowBytes> d16;
      const auto high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(d16, v[i])));
      hn::Store(hn::And(v[i], lut4_mask), d, lut4_groups[0] + first);
      hn::Store(hn::And(high, lut4_mask), d, lut4_groups[1] + first);
    }
  }
};

/// distances: of the block's 64 rows, in order.
HWY_ATTR HWY_INLINE void look_up_distances(const SignTables& tables,
                                           const SignLut4Groups& lut4_groups, int sketch_words,
                                           uint32_t* distances) {
  const RowBytes d;
  const hn::Repartition<uint16_t, RowBytes> d16;
  const hn::Repartition<uint32_t, RowBytes> d32;
  constexpr int kTogether = 2;  // registers that a table is loaded for
  const auto zero = hn::Zero(d);
  const auto zero16 = hn::Zero(d16);
  for (int first = 0; first < kBlockRows; first += kTogether * kRegisterRows) {
    hn::Vec<decltype(d16)> low[kTogether] = {zero16, zero16};
    hn::Vec<decltype(d16)> high[kTogether] = {zero16, zero16};
    for (int word = 0; word < sketch_words; ++word) {
      hn::Vec<RowBytes> sums[kTogether] = {zero, zero};
// GCC would add up sixteen as a tree, and keep all of them until then.
#pragma GCC unroll 4
      for (int lut4_group = 0; lut4_group < kLut4GroupsPerWord; ++lut4_group) {
        const int at = word * kLut4GroupsPerWord + lut4_group;
        const auto entries = hn::LoadDup128(d, tables.entries[at]);
#pragma GCC unroll 2
        for (int i = 0; i < kTogether; ++i) {
          const auto rows = hn::Load(d, lut4_groups.rows[at] + first + i * kRegisterRows);
          sums[i] = hn::Add(sums[i], hn::TableLookupBytes(entries, rows));
        }
      }
#pragma GCC unroll 2
      for (int i = 0; i < kTogether; ++i) {
        low[i] = hn::Add(low[i], hn::BitCast(d16, hn::InterleaveLower(d, sums[i], zero)));
        high[i] = hn::Add(high[i], hn::BitCast(d16, hn::InterleaveUpper(d, sums[i], zero)));
      }
    }
#pragma GCC unroll 2
    for (int i = 0; i < kTogether; ++i) {
      uint32_t* out = distances + first + i * kRegisterRows;
      constexpr int kQuarter = kRegisterRows / 4;
      hn::Store(hn::BitCast(d32, hn::InterleaveLower(d16, low[i], zero16)), d32, out);
      hn::Store(hn::BitCast(d32, hn::InterleaveUpper(d16, low[i], zero16)), d32, out + kQuarter);
      hn::Store(hn::BitCast(d32, hn::InterleaveLower(d16, high[i], zero16)), d32,
                out + 2 * kQuarter);
      hn::Store(hn::BitCast(d32, hn::InterleaveUpper(d16, high[i], zero16)), d32,
                out + 3 * kQuarter);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif

#endif  // per-target include guard
