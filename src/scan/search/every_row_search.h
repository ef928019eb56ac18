// SPDX-License-Identifier: MIT
// One thread's search of tiles that scores every row, but those that the row's own bytes leave out
// (kernels/bounds/rows_to_score.h).
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/bounds/rows_to_score.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/spare_memory.h"
#include "src/scan/search/thread_limits.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

class EveryRowSearch {
 public:
  /// For any code. `bounded`: rows are ordered by the least of score and centroid_bound, where
  /// codes have it, and left out by it; by the score alone otherwise. `by_windows`: for search_tile
  /// (ScanPlan).
  EveryRowSearch(const ScanCodec& codec, bool bounded, bool by_windows);

  /// Makes what is made once for a query: for searches of many rows by search_tile. The queries
  /// live until the next call.
  void begin(const ScanQuery* queries, int64_t count);
  /// Brings the tile's rows into best[i] for query i of begin.
  void search_tile(const ScanTile& tile, TopK* best, const ThreadLimits& limits = {});

  /// Brings the tile's rows, which may be few, into *best for any query.
  void search_few(const ScanTile& tile, const ScanQuery& query, TopK* best);

 private:
  void search(const RowBounds& bounds, const ScanTile& tile, TopK* best);
  void score(const ScanTile& tile, const ScanQuery& query, int count, TopK* best);

  /// Rows that are scored together.
  struct Piece {
    static constexpr size_t kCapacity = WaitingRows::kCapacity + 4;  // as candidate_dots wants it
    alignas(64) uint32_t rows[kCapacity];
    alignas(64) int32_t dots[2][kCapacity];  // by stage
    WaitingRows waiting;
  };

  const ScanCodec& codec_;
  bool bounded_;
  bool by_windows_;
  std::vector<RowBounds> bounds_;     // by query
  std::vector<WindowTables> tables_;  // where they pay
  SpareMemory<Piece> piece_;
  AlignedVector<int8_t> values_;  // (padded_dim)
};

}  // namespace polarquant
