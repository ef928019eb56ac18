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
  /// For codes with signs.
  explicit TileSearch(const ScanCodec& codec);

  /// Brings the tile's rows into best[i] for queries[i], i < count.
  void search(const ScanTile& tile, const ScanQuery* queries, int64_t count, TopK* best);

 private:
  /// Queries whose survivors are found together: a block's signs are then read once for all.
  static constexpr int kQueriesTogether = 8;
  /// Rows that go through the later stages together: between two pieces the threshold rises.
  static constexpr int kPieceRows = 64;
  /// Blocks of one query alone between two looks at what survived, and those at the beginning.
  static constexpr int kSliceBlocks = 256;
  static constexpr int kFirstSliceBlocks = 16;
  /// Room that kernels need behind a list.
  static constexpr int kListSlack = 16;
  /// Survivors that there is room for: of one query those of a slice, and as many that wait, or of
  /// eight all rows of a small tile.
  static constexpr int kSliceRows = kSliceBlocks * kBlockRows;
  static constexpr int kListRoom = 2 * kSliceRows + kListSlack;

  void search_alone(const ScanTile& tile, const ScanQuery& query, TopK* best);
  void search_all(const ScanTile& tile, SurvivorSearch* survivors, TopK* best);
  void search_promising(const ScanTile& tile, SurvivorSearch* survivors, int first, TopK* best);
  void search_rows(const ScanTile& tile, const ScanQuery& query, const uint32_t* rows,
                   const float* bounds, int count, TopK* best);
  void score_piece(const ScanTile& tile, const ScanQuery& query, int count, TopK* best);
  float key_of(const ScanTile& tile, const ScanQuery& query, int kept, float score) const;

  const ScanCodec& codec_;
  // Survivors of up to kQueriesTogether queries, as many as a tile has room for.
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
