// SPDX-License-Identifier: MIT
// Sums of rows' entries in window tables. Where a machine permutes bytes, the rows' bytes are laid
// out anew, byte b of 64 rows in one register, the column; a window of all rows then takes two
// shifts of neighbouring columns, and its entries one look-up in 256 bytes. Elsewhere one look-up
// takes as long as it would for one window, so that it is for all windows that end in 6 bits.
#if defined(POLARQUANT_WINDOW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_WINDOW_SUMS_INL_H_
#undef POLARQUANT_WINDOW_SUMS_INL_H_
#else
#define POLARQUANT_WINDOW_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/scan/kernels/bounds/rows_to_score.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/window_tables.h"
#include "src/simd/capabilities.h"
#include "src/simd/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VBMI

/// Sums of bytes of 64 rows.
class ByteSums {
 public:
  /// So many largest entries, two at a time, fit 16 bits.
  static constexpr int kMostWindows = 65535 / (2 * WindowTables::kMostEntry) * 2;

  HWY_ATTR HWY_INLINE ByteSums() : all_(_mm512_setzero_si512()), odd_(_mm512_setzero_si512()) {}

  /// One entry of each row, or two that were added.
  HWY_ATTR HWY_INLINE void add(__m512i entries) {
    // Odd rows are above even ones, whose sum is what they leave of this.
    all_ = _mm512_add_epi16(all_, entries);
    odd_ = _mm512_add_epi16(odd_, _mm512_srli_epi16(entries, 8));
  }

  /// Adds the sums of rows 0 … 63 to `sums`.
  HWY_ATTR HWY_INLINE void add_to(int32_t* sums) const {
    const __m512i even = _mm512_sub_epi16(all_, _mm512_slli_epi16(odd_, 8));
    // Rows 0 to 7 of each 128 bits' 16, and the others.
    const __m512i low = _mm512_unpacklo_epi16(even, odd_);
    const __m512i high = _mm512_unpackhi_epi16(even, odd_);
    add_lane(_mm512_castsi512_si128(low), _mm512_castsi512_si128(high), sums);
    add_lane(_mm512_extracti32x4_epi32(low, 1), _mm512_extracti32x4_epi32(high, 1), sums + 16);
    add_lane(_mm512_extracti32x4_epi32(low, 2), _mm512_extracti32x4_epi32(high, 2), sums + 32);
    add_lane(_mm512_extracti32x4_epi32(low, 3), _mm512_extracti32x4_epi32(high, 3), sums + 48);
  }

 private:
  static HWY_ATTR HWY_INLINE void add_lane(__m128i low, __m128i high, int32_t* sums) {
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    _mm512_store_si512(sums,
                       _mm512_add_epi32(_mm512_load_si512(sums), _mm512_cvtepu16_epi32(both)));
  }

  __m512i all_, odd_;
};

HWY_ATTR HWY_INLINE __m512i column(const uint8_t* columns, size_t byte) {
  return _mm512_load_si512(columns + byte * kBlockRows);
}

/// Word j of register i and word i of register j change places.
HWY_ATTR HWY_INLINE void transpose_words(__m512i* rows) {
  __m512i pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
  }
  // Of each four registers, words 0 and 4, or 2 and 6, of four rows.
  for (int half = 0; half < 2; ++half) {
    const __m512i even_low = _mm512_shuffle_i64x2(pairs[half], pairs[2 + half], 0x88);
    const __m512i even_high = _mm512_shuffle_i64x2(pairs[4 + half], pairs[6 + half], 0x88);
    const __m512i odd_low = _mm512_shuffle_i64x2(pairs[half], pairs[2 + half], 0xDD);
    const __m512i odd_high = _mm512_shuffle_i64x2(pairs[4 + half], pairs[6 + half], 0xDD);
    rows[half] = _mm512_shuffle_i64x2(even_low, even_high, 0x88);
    rows[4 + half] = _mm512_shuffle_i64x2(even_low, even_high, 0xDD);
    rows[2 + half] = _mm512_shuffle_i64x2(odd_low, odd_high, 0x88);
    rows[6 + half] = _mm512_shuffle_i64x2(odd_low, odd_high, 0xDD);
  }
}

/// Columns of the rows' first `bytes` bytes, eight at a time.
HWY_ATTR HWY_INLINE void make_columns(const uint8_t* const* payloads, size_t bytes,
                                      uint8_t* columns) {
  alignas(64) static constexpr uint8_t kTransposed[64] = {
      0,  8,  16, 24, 32, 40, 48, 56, 1,  9,  17, 25, 33, 41, 49, 57, 2,  10, 18, 26, 34, 42,
      50, 58, 3,  11, 19, 27, 35, 43, 51, 59, 4,  12, 20, 28, 36, 44, 52, 60, 5,  13, 21, 29,
      37, 45, 53, 61, 6,  14, 22, 30, 38, 46, 54, 62, 7,  15, 23, 31, 39, 47, 55, 63};
  const __m512i transposed = _mm512_load_si512(kTransposed);
  for (size_t byte = 0; byte < bytes; byte += 8) {
    // Rows 8i … 8i+7, their first bytes, then their second ones, and so on.
    __m512i rows[8];
    for (int i = 0; i < 8; ++i) {
      const __m512i from = _mm512_add_epi64(_mm512_load_si512(payloads + 8 * i),
                                            _mm512_set1_epi64(static_cast<int64_t>(byte)));
      rows[i] = _mm512_permutexvar_epi8(transposed, _mm512_i64gather_epi64(from, nullptr, 1));
    }
    transpose_words(rows);
    for (size_t i = 0; i < 8; ++i) _mm512_store_si512(columns + (byte + i) * kBlockRows, rows[i]);
  }
}

/// 8 bits of each row, which begin `shift` bits after the first column's.
HWY_ATTR HWY_INLINE __m512i window_at(__m512i first, __m512i second, int shift) {
  static constexpr int32_t kRight[8] = {0,       0x10001, 0x20002, 0x30003,
                                        0x40004, 0x50005, 0x60006, 0x70007};
  static constexpr int32_t kLeft[8] = {0x80008, 0x70007, 0x60006, 0x50005,
                                       0x40004, 0x30003, 0x20002, 0x10001};
  static constexpr int32_t kLowBits[8] = {-1,         0x7F7F7F7F, 0x3F3F3F3F, 0x1F1F1F1F,
                                          0x0F0F0F0F, 0x07070707, 0x03030303, 0x01010101};
  const __m512i low = _mm512_srlv_epi16(first, _mm512_set1_epi32(kRight[shift]));
  const __m512i high = _mm512_sllv_epi16(second, _mm512_set1_epi32(kLeft[shift]));
  constexpr int kFirstChooses = 0xCA;  // low where the first operand's bits are 1, else high
  return _mm512_ternarylogic_epi64(_mm512_set1_epi32(kLowBits[shift]), low, high, kFirstChooses);
}

/// The windows of a ring, one after the other: each ends `step` bits after the one before. Those of
/// kWindowRows rows, whose columns lie `stride` bytes apart.
class WindowColumns {
 public:
  /// The ring's last 8 bits come before its first.
  HWY_ATTR HWY_INLINE WindowColumns(const uint8_t* ring, size_t stride, int bits, int step)
      : next_(ring + kBlockRows), stride_(stride), step_(step) {
    const auto end = static_cast<size_t>(bits) / 8;
    for (size_t i = 0; i < 2; ++i, ring += stride) {
      here_[i] = column(ring, 0);
      before_[i] = column(ring, end - 1);
      if (bits % 8 != 0) before_[i] = window_at(before_[i], column(ring, end), bits % 8);
    }
  }
  HWY_ATTR HWY_INLINE void advance() {
    shift_ += step_;
    if (shift_ < 8) return;
    shift_ -= 8;
    for (size_t i = 0; i < 2; ++i) {
      before_[i] = here_[i];
      here_[i] = column(next_ + i * stride_, 0);
    }
    next_ += kBlockRows;
  }
  HWY_ATTR HWY_INLINE __m512i window(size_t half) const {
    return window_at(before_[half], here_[half], shift_);
  }

 private:
  const uint8_t* next_;
  size_t stride_;
  int step_;
  int shift_ = 0;
  __m512i before_[2], here_[2];
};

/// Adds a part's entries to the sums of rows.
HWY_ATTR HWY_NOINLINE void add_part(const Int8Part& part, const uint8_t* ring, size_t stride,
                                    const uint8_t* entries, int32_t* sums) {
  const int pairs = pairs_of(part.dim);
  WindowColumns windows(ring, stride, pairs * part.step_bits, part.step_bits);
  struct Entries {
    __m512i halves[2];
  };
  const auto look_up = [&]() HWY_ATTR {
    const ByteTable table(entries);
    entries += WindowTables::kWindows;
    windows.advance();
    return Entries{{table.look_up(windows.window(0)), table.look_up(windows.window(1))}};
  };
  for (int pair = 0; pair < pairs;) {
    const int end = std::min(pairs, pair + ByteSums::kMostWindows);
    ByteSums some[2];
    for (; pair + 2 <= end; pair += 2) {
      const Entries first = look_up();
      const Entries second = look_up();
      for (size_t i = 0; i < 2; ++i)
        some[i].add(_mm512_add_epi8(first.halves[i], second.halves[i]));
    }
    if (pair < end) {
      const Entries last = look_up();
      for (size_t i = 0; i < 2; ++i) some[i].add(last.halves[i]);
      ++pair;
    }
    for (size_t i = 0; i < 2; ++i) some[i].add_to(sums + i * kBlockRows);
  }
}

/// most_window_dot of kWindowRows rows; both arrays on 64-byte boundaries.
HWY_ATTR inline void most_window_dots(const ScanCodec& codec, const WindowTables& tables,
                                      const uint8_t* const* payloads, int /*count*/,
                                      int32_t* dots) {
  constexpr size_t kStride = (kMostWindowBytes + 8) * kBlockRows;
  alignas(64) uint8_t columns[2 * kStride];
  for (size_t i = 0; i < 2; ++i)
    make_columns(payloads + i * kBlockRows, codec.layout().payload_bytes(), columns + i * kStride);
  alignas(64) int32_t sums[kWindowRows] = {};
  const uint8_t* entries = tables.entries.data();
  for (const Int8Part& part : codec.stages()[0].parts) {
    add_part(part, columns + part.codes_offset * kBlockRows, kStride, entries, sums);
    entries += static_cast<size_t>(pairs_of(part.dim)) * WindowTables::kWindows;
  }
  const __m512i least = _mm512_set1_epi32(tables.least);
  const __m512i unit = _mm512_set1_epi32(tables.unit);
  for (int row = 0; row < kWindowRows; row += 16) {
    const __m512i sum = _mm512_load_si512(sums + row);
    _mm512_store_si512(dots + row, _mm512_add_epi32(least, _mm512_mullo_epi32(sum, unit)));
  }
}

#else

/// Tables whose bits a word of 64 holds, with those before their first.
constexpr int kTablesOfWord = 8;
constexpr int kWordBytes = kTablesOfWord * WindowTables::kGroupBits / 8;

/// The sum of a word's entries in so many tables. The first table's bits begin kStep bits after the
/// word's.
template <int kStep>
HWY_INLINE int32_t sum_of_word(const uint8_t* table, uint64_t word, int tables) {
  constexpr int kBits = WindowTables::kGroupBits - kStep + 8;
  int32_t sum = 0;
  word >>= kStep;
#pragma GCC unroll 8
  for (int i = 0; i < tables; ++i) {
    sum += table[(static_cast<size_t>(i) << kBits) + (word & ((1 << kBits) - 1))];
    word >>= WindowTables::kGroupBits;
  }
  return sum;
}

HWY_INLINE uint64_t load_word(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// Adds a part's entries to the sums of rows. Word by word, so that eight tables stay in a cache
/// for all rows. Loops of their own for whole words: a query takes 1.09 of the time where each row
/// asks how many tables there are.
template <int kStep>
HWY_ATTR HWY_NOINLINE void add_part(const Int8Part& part, const uint8_t* const* payloads, int count,
                                    const uint8_t* table, int tables, int32_t* sums) {
  const int bits = pairs_of(part.dim) * kStep;
  for (int row = 0; row < count; ++row) {
    const uint8_t* ring = payloads[row] + part.codes_offset;
    const uint64_t word = load_word(ring) << 8 | bits_before_ring(ring, bits);
    sums[row] += tables >= kTablesOfWord ? sum_of_word<kStep>(table, word, kTablesOfWord)
                                         : sum_of_word<kStep>(table, word, tables);
  }
  size_t byte = part.codes_offset + kWordBytes - 1;
  for (tables -= kTablesOfWord; tables > 0; tables -= kTablesOfWord, byte += kWordBytes) {
    constexpr size_t kSize = size_t{256} << (WindowTables::kGroupBits - kStep);
    table += kTablesOfWord * kSize;
    if (tables >= kTablesOfWord) {
      for (int row = 0; row < count; ++row)
        sums[row] += sum_of_word<kStep>(table, load_word(payloads[row] + byte), kTablesOfWord);
    } else {
      for (int row = 0; row < count; ++row)
        sums[row] += sum_of_word<kStep>(table, load_word(payloads[row] + byte), tables);
    }
  }
}

/// most_window_dot of `count` rows; up to 8 bytes after a row's own are read.
HWY_ATTR inline void most_window_dots(const ScanCodec& codec, const WindowTables& tables,
                                      const uint8_t* const* payloads, int count, int32_t* dots) {
  std::fill_n(dots, count, 0);
  const uint8_t* table = tables.entries.data();
  for (const Int8Part& part : codec.stages()[0].parts) {
    const int tables_of_part = count_tables(tables, part);
    const auto add = part.step_bits == 1   ? add_part<1>
                     : part.step_bits == 2 ? add_part<2>
                                           : add_part<3>;
    add(part, payloads, count, table, tables_of_part, dots);
    table += static_cast<size_t>(tables_of_part) * tables.table_size(part.step_bits);
  }
  for (int row = 0; row < count; ++row) dots[row] = tables.most_dot(dots[row]);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
