// SPDX-License-Identifier: MIT
// Scores of the few rows that a query picks out of some blocks whose levels many queries share.
#pragma once

#include <cstdint>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/shared_fronts.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"

namespace polarquant {

/// Rows of some blocks of a tile, decoded: row r of them is row first_row + r of the tile.
class SharedLevels {
 public:
  static constexpr int kMostRows = SharedFronts::kMostBlocks * kBlockRows;

  explicit SharedLevels(const ScanCodec& codec);

  /// As many blocks as there is room for: most_shared_blocks(), or fewer whose levels stay in a
  /// second-level cache while queries take turns.
  int most_blocks() const { return most_blocks_; }
  ScanTerms terms(uint32_t row) const { return {scale[row], constant[row], norm[row]}; }

  uint32_t first_row = 0;
  /// By stage, (rows, stage.lanes()): levels, or 128 + level where kernels want the unsigned
  /// operand of byte products. Rows that are not allowed, and lanes without a coordinate, have any
  /// value.
  AlignedVector<uint8_t> levels[2];
  alignas(64) float scale[kMostRows];
  alignas(64) float constant[kMostRows];
  alignas(64) float norm[kMostRows];
  float max_scale = 0;
  float max_constant = 0;  // of the magnitudes

 private:
  int most_blocks_;
};

/// Decodes the allowed rows of at most most_blocks() blocks.
void decode_shared_levels(const ScanCodec& codec, const ScanTile& tile, int first_block,
                          int end_block, SharedLevels* rows);

/// A query as it meets shared levels.
struct LevelQuery {
  const int8_t* levels;  // (lanes), borrowed
  int32_t level_sum[2];  // by stage
  ScoreConstants score;
};
void set_level_query(const ScanCodec& codec, const ScanQuery& query, LevelQuery* levels);
/// Brings near what find_shared_hits reads of a query.
inline void fetch_levels(const ScanCodec& codec, const LevelQuery& query) {
  fetch(reinterpret_cast<const uint8_t*>(query.levels), static_cast<size_t>(codec.lanes()));
}

/// Rows whose scores by levels reach a threshold, side by side.
struct SharedHits {
  static constexpr size_t kRoom = SharedLevels::kMostRows + 4;
  alignas(64) uint32_t rows[kRoom];  // of the shared ones
  alignas(64) int32_t dots[2][kRoom];
};

/// Writes those of the picked rows whose goodness is at least the threshold, in order; returns
/// how many they are. What is behind the picked ones is overwritten. Where can_share_fronts().
int find_shared_hits(const ScanCodec& codec, const SharedLevels& rows, const LevelQuery& query,
                     float threshold, PickedRows* picked, SharedHits* hits);

}  // namespace polarquant
