// SPDX-License-Identifier: MIT
// Which rows of a tile have to be scored, in a search that scores every row: codes without signs
// are left out by nothing but what one row's own bytes say. Two bounds may tell that a row cannot
// reach a threshold: centroid_bound (scan_query.h), by what lies beside a row's planes, and its
// score with most_window_dot (window_tables.h), by all of its bytes but without decoding them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/model/window_tables.h"

namespace polarquant {

/// Whether this machine looks up bytes of 64 rows at once: its tables have an entry for each
/// window, and those of others are grouped.
bool machine_looks_up_bytes();
/// The most bytes of a row's payload whose columns lie in the first-level cache beside a table.
inline constexpr size_t kMostWindowBytes = 256;
/// Whether the codec has windows only, in few enough bytes for this bound.
bool fits_window_tables(const ScanCodec& codec);
/// As set_window_tables.
void make_window_tables(const ScanCodec& codec, const ScanQuery& query, WindowTables* tables);

/// A query's bounds. Borrowed.
struct RowBounds {
  const ScanCodec* codec = nullptr;
  const ScanQuery* query = nullptr;
  const WindowTables* tables = nullptr;  // null: no bound by windows
  bool by_centroids = false;
};

/// Rows that the bound by windows takes at a time, so that a table is loaded once for all.
inline constexpr int kWindowRows = 2 * kBlockRows;

/// Rows that wait for the bound by windows, with the parts of their
/// scores: offset + scale·dot product + error.
struct WaitingRows {
  static constexpr size_t kCapacity = kWindowRows + kBlockRows;
  int count = 0;
  alignas(64) uint32_t rows[kCapacity];
  alignas(64) float offsets[kCapacity];
  alignas(64) float scales[kCapacity];
  alignas(64) float errors[kCapacity];  // where the query has an error_bound
};

/// Writes those allowed rows of the tile's block which may reach the threshold, ascending; of all
/// that wait then, when they are enough. Returns how many: at most WaitingRows::kCapacity.
int find_rows_to_score(const RowBounds& bounds, const ScanTile& tile, int block, float threshold,
                       WaitingRows* waiting, uint32_t* rows);
/// The same for those that still wait: none does afterwards.
int find_waiting_rows_to_score(const RowBounds& bounds, const ScanTile& tile, float threshold,
                               WaitingRows* waiting, uint32_t* rows);

}  // namespace polarquant
