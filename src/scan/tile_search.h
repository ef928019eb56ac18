// SPDX-License-Identifier: MIT
// One thread's search of tiles: rows go through the stages of docs/scan.md, the best stay.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/sign_survivors.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"
#include "src/scan/top_k.h"

namespace polarquant {

class TileSearch {
 public:
  /// For codes with signs. Memory is taken for `queries` ≥ 1 or kMaxQueriesTogether.
  TileSearch(const ScanCodec& codec, int64_t queries);

  /// Brings the tile's rows into best[i] for queries[i], i < count.
  void search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best);

 private:
  /// Queries whose survivors are found together: a block's signs are then read once for all.
  static constexpr int kMaxQueriesTogether = 8;
  /// Blocks that they are held against in turn: their fronts stay in a first-level cache.
  static constexpr int kSharedBlocks = 16;
  /// Rows that go through the later stages together: between two pieces the threshold rises.
  static constexpr int kPieceRows = 64;
  /// Blocks between two looks at what survived, and those at the beginning.
  static constexpr int kSliceBlocks = 256;
  static constexpr int kFirstSliceBlocks = 16;
  /// Room that kernels need behind a list.
  static constexpr int kListSlack = 16;
  /// Survivors of a query that may wait while a slice is read.
  static constexpr int kMostWaiting = 16384;
  static constexpr int kListRoom = kMostWaiting + kSliceBlocks * kBlockRows + kListSlack;

  void search_together(const ScanTile& tile, const ScanQuery* queries, int count, TopK* best);
  void search_all(const ScanTile& tile, SurvivorSearch* survivors, TopK* best);
  void search_promising(const ScanTile& tile, SurvivorSearch* survivors, int first, TopK* best);
  void search_rows(const ScanTile& tile, const ScanQuery& query, const uint32_t* rows,
                   const float* bounds, int count, TopK* best);
  void score_piece(const ScanTile& tile, const ScanQuery& query, int count, TopK* best);

  const ScanCodec& codec_;
  int together_;
  // Survivors of the queries that are searched together, (together_, kListRoom).
  std::unique_ptr<uint32_t[]> survivors_;
  std::unique_ptr<float[]> bounds_;
  // The piece at hand, (kPieceRows).
  AlignedVector<uint32_t> rows_;
  std::vector<ScanTerms> terms_;
  std::vector<float> sign_bounds_;
  AlignedVector<int32_t> dots_[2];  // by stage
  AlignedVector<int16_t> levels_;   // (lanes)
};

}  // namespace polarquant
