// SPDX-License-Identifier: MIT
// The first stage of a staged search: which rows of a tile may reach a threshold, by the signs in
// their front (front_bound in scan_query.h). The bound is a line over the distance of the signs,
// and is taken a few roundings too high: of the rows that reach the end it is taken exactly.
#pragma once

#include <cstdint>

#include "src/scan/kernels/sketch/candidate_lists.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// A row may pass when base + weight·bias (or −bias², for L2) + norm·(height − tilt·h) ≥ threshold.
/// h is the front's distance; factors are taken as stored, their units in these constants.
struct SurvivorLine {
  float base = 0;
  float weight = 0;
  float height = 0;
  float tilt = 0;
  float threshold = 0;
};
/// A threshold that is not finite is taken as one that every row reaches.
SurvivorLine survivor_line(const ScanCodec& codec, const ScanQuery& query, float threshold);

/// A row that survives: its number in the tile and, above it, its front's distance.
inline constexpr int kTileRowBits = 17;
static_assert(kTileRows == 1 << kTileRowBits);
inline uint32_t survivor_of(uint32_t row, int distance) {
  return row | static_cast<uint32_t>(distance) << kTileRowBits;
}
inline uint32_t row_of(uint32_t survivor) { return survivor % kTileRows; }
inline int distance_of(uint32_t survivor) { return static_cast<int>(survivor >> kTileRowBits); }

struct SurvivorSearch {
  const ScanQuery* query = nullptr;
  float threshold = 0;  // of the bound; −infinity: every row passes
  SurvivorList found;   // bounds by the line; room for the rows looked at and kListSlack
  SurvivorLine line;    // set by find_sign_survivors
  /// Of the blocks that were looked at last: which kernel is the faster one.
  bool finds_few = false;
};

/// Adds to what each of `searches` has found, ascending, those rows of the tile's blocks
/// first_block … end_block−1 whose bound is at least the threshold, and few others. The codec has
/// signs.
void find_sign_survivors(const ScanCodec& codec, const ScanTile& tile, int first_block,
                         int end_block, SurvivorSearch* searches, int count);

}  // namespace polarquant
