// SPDX-License-Identifier: MIT
// One thread's search of tiles: rows go through the stages of docs/scan.md, the best stay.
#pragma once

#include <cstdint>
#include <vector>

#include "src/core/aligned_buffer.h"
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
  static constexpr size_t kListRoom = kTileRows + 16;

  void prefetch_codes(const ScanTile& tile, const uint32_t* rows, int count) const;
  void search_together(const ScanTile& tile, const ScanQuery* queries, int count, TopK* best);
  void score_rows(const ScanTile& tile, const ScanQuery& query, uint32_t* rows, int count,
                  TopK* best);
  float key_of(const ScanTile& tile, const ScanQuery& query, int kept, uint32_t row,
               float score) const;

  const ScanCodec& codec_;
  AlignedVector<uint32_t> survivors_;  // (kQueriesTogether, kListRoom)
  std::vector<ScanTerms> terms_;       // (kListRoom), of the rows being scored
  std::vector<float> sign_bounds_;     // (kListRoom)
  AlignedVector<int32_t> dots_[2];     // (kListRoom), by stage
  AlignedVector<int16_t> levels_;      // (lanes)
};

}  // namespace polarquant
