// SPDX-License-Identifier: MIT
// One query's tables for a code without sign planes: what pairs of coordinates add to
// Σ query value·value, for each way in which a row's bits may code them, rounded up to bytes. A
// row's bytes, added, make a bound of its score. There are two forms:
// - an entry for each window of one pair: 256 in a table, so that a machine that permutes bytes
//   looks up those of 64 rows at once;
// - an entry for each 6 bits of a ring, which are the ends of up to six windows: for the others,
//   which look up one by one (kernels/bounds/window_sums-inl.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

struct WindowTables {
  static constexpr size_t kWindows = 256;  // values of a window
  /// Bits of a ring that are the ends of a group's windows. A ring moves by 1, 2 or 3 bits a pair.
  static constexpr int kGroupBits = 6;
  static constexpr int kMostGroup = 6;
  /// Of windows on their own two fit a byte.
  static constexpr int kMostEntry = 127;
  static constexpr int kMostGroupEntry = 255;

  bool grouped = false;
  AlignedVector<uint8_t> entries;  // table by table: by part, in the order of pairs
  int32_t least = 0;               // Σ over windows of the least that each adds
  int32_t unit = 1;                // of entries

  int windows_of_table(int step_bits) const { return grouped ? kGroupBits / step_bits : 1; }
  /// Its first window has 8 bits, and each other one `step_bits` more.
  size_t table_size(int step_bits) const {
    return size_t{256} << ((windows_of_table(step_bits) - 1) * step_bits);
  }
  int most_entry() const { return grouped ? kMostGroupEntry : kMostEntry; }
  /// Of a row, from the sum of its entries: at least Σ query value·value, and at most 1.02 units
  /// more for each table.
  int32_t most_dot(int32_t sum) const { return least + unit * sum; }
};

/// Whether a codec has one stage and all of it is windows without signs, over rings of 8 bits and
/// more.
bool has_windows_only(const ScanCodec& codec);
/// The tables for a part's windows, and the bytes of all tables, in the form that `tables` has.
int count_tables(const WindowTables& tables, const Int8Part& part);
size_t count_entries(const WindowTables& tables, const ScanCodec& codec);
/// The query's values of a part's pair.
struct QueryPair {
  int8_t x;
  int8_t y;
};
QueryPair query_pair(const Int8Part& part, const ScanQuery& query, int pair);

/// A product above a window's least becomes so many units at least, in 1/256 of a unit:
/// (above · reciprocal >> 16) + 1. The sum for an entry's windows, rounded up, is the entry.
struct WindowUnit {
  int32_t unit;
  uint16_t reciprocal;

  /// Where no table's products differ by more than `most_range` in all.
  static WindowUnit for_range(int32_t most_range, int most_entry);
  uint32_t steps(uint32_t above) const { return (above * reciprocal >> 16) + 1; }
  static uint8_t entry(uint32_t steps) { return static_cast<uint8_t>((steps + 255) >> 8); }
};

/// The tables of a query, for a codec that has_windows_only, in the form that they have. Plain:
/// kernels make the same.
void set_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables);
/// WindowTables::most_dot of a row, whose payload is given.
int32_t most_window_dot(const ScanCodec& codec, const WindowTables& tables, const uint8_t* payload);

}  // namespace polarquant
