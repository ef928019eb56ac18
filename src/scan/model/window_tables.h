// SPDX-License-Identifier: MIT
// One query's table for each window of a code without sign planes: what a pair of coordinates adds
// to Σ query value·value, for each of its 256 windows, rounded up to bytes. A row's bytes, added,
// make a bound of its score that takes one look-up a pair, for 64 rows at once where a machine
// permutes bytes (kernels/bounds/keep_by_windows.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

struct WindowTables {
  static constexpr size_t kEntries = 256;
  /// Two fit a byte.
  static constexpr int kMostEntry = 127;

  AlignedVector<uint8_t> entries;  // (windows, kEntries): by part, in the order of pairs
  int32_t least = 0;               // Σ over windows of the least that each adds
  int32_t unit = 1;                // of entries

  int windows() const { return static_cast<int>(entries.size() / kEntries); }
  /// Of a row, from the sum of its entries: at least Σ query value·value, and at most `unit` more
  /// for each window.
  int32_t most_dot(int32_t sum) const { return least + unit * sum; }
};

/// Whether a codec has one stage and all of it is windows without signs, over rings of 8 bits and
/// more.
bool has_windows_only(const ScanCodec& codec);
/// Windows of such a codec's rows.
int count_windows(const ScanCodec& codec);
/// The query's values of a part's pair.
struct QueryPair {
  int8_t x;
  int8_t y;
};
QueryPair query_pair(const Int8Part& part, const ScanQuery& query, int pair);

/// The unit of a query's tables, where no window's products differ by more than `most_range`, and
/// the number that divides by it: ((product − least) · reciprocal >> 16) + 1 is at least their
/// quotient.
int32_t window_unit(int32_t most_range);
uint32_t window_reciprocal(int32_t unit);

/// The tables of a query, for a codec that has_windows_only. Plain: kernels make the same.
void set_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables);
/// WindowTables::most_dot of a row, whose payload is given.
int32_t most_window_dot(const ScanCodec& codec, const WindowTables& tables, const uint8_t* payload);

}  // namespace polarquant
