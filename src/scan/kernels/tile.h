// SPDX-License-Identifier: MIT
// What scan kernels work on: up to 16 blocks with their rows' score terms, read once and shared by all
// queries of a group.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/block_layout.h"

namespace polarquant {

inline constexpr int kTileBlocks = 16;
inline constexpr int kTileRows = kTileBlocks * kBlockRows;

struct ScanTile {
  int blocks = 0;
  const uint8_t* block[kTileBlocks];
  int room[kTileBlocks];
  int64_t first_row[kTileBlocks];
  /// By row 64·block + row of the block. `constant` is NaN for places without a row and rows that a
  /// filter leaves out: their scores and bounds are NaN, which reaches no threshold.
  alignas(64) float scale[kTileRows];
  alignas(64) float constant[kTileRows];
  alignas(64) float norm[kTileRows];
  float largest_constant = 0;  // of all rows' |constant|
};

}  // namespace polarquant
