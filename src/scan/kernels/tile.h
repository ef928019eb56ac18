// SPDX-License-Identifier: MIT
// What scan kernels work on: some blocks, and which of their rows take part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/scan_codec.h"

namespace polarquant {

inline constexpr int kTileBlocks = 2048;
inline constexpr int kTileRows = kTileBlocks * kBlockRows;

/// A row of a tile is numbered 64·block + row of the block.
struct ScanTile {
  int blocks = 0;
  const uint8_t* front[kTileBlocks];
  const uint8_t* rest[kTileBlocks];
  int room[kTileBlocks];
  int64_t first_row[kTileBlocks];
  /// Bit r: row r of the block exists and no filter leaves it out.
  uint64_t allowed[kTileBlocks];
};

inline RowPlace place_of(const ScanTile& tile, uint32_t row) {
  const uint32_t block = row / kBlockRows;
  return {tile.front[block], tile.rest[block], tile.room[block],
          static_cast<int>(row % kBlockRows)};
}

/// Brings a row's rest near. Survivors' lie far apart; eight rows ahead they come in time.
inline constexpr int kFetchAhead = 8;
inline void fetch_rest(const ScanTile& tile, const BlockLayout& layout, uint32_t row) {
  const RowPlace at = place_of(tile, row);
  const uint8_t* rest = at.rest + static_cast<size_t>(at.row) * layout.rest_bytes();
  for (size_t byte = 0; byte < layout.rest_bytes() + 64; byte += 64)
    __builtin_prefetch(rest + byte);
}

}  // namespace polarquant
