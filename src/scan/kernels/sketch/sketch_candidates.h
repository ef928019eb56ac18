// SPDX-License-Identifier: MIT
// The first stage of a staged search: which rows of a tile may reach a threshold, by the signs in
// their sketch (sketch_bound in scan_query.h). The bound is a line over the distance of the signs,
// and is taken a few roundings too high: of the rows that reach the end it is taken exactly.
#pragma once

#include <cstdint>

#include "src/scan/kernels/sketch/candidate_lists.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// A row may pass when base + weight·bias (or −bias², for L2) + norm·(height − tilt·h) ≥ threshold.
/// h is the sketch's distance; factors are taken as stored, their units in these constants.
struct LinearBound {
  float base = 0;
  float weight = 0;
  float height = 0;
  float tilt = 0;
  float threshold = 0;
};
/// A threshold that is not finite is taken as one that every row reaches.
LinearBound linear_bound(const ScanCodec& codec, const ScanQuery& query, float threshold);

/// A row that survives: its number in the tile and, above it, its sketch's distance.
inline constexpr int kTileRowBits = 17;
static_assert(kTileRows == 1 << kTileRowBits);
inline uint32_t candidate_of(uint32_t row, int distance) {
  return row | static_cast<uint32_t>(distance) << kTileRowBits;
}
inline uint32_t row_of(uint32_t candidate) { return candidate % kTileRows; }
inline int distance_of(uint32_t candidate) { return static_cast<int>(candidate >> kTileRowBits); }

struct CandidateSearch {
  const ScanQuery* query = nullptr;
  float threshold = 0;  // of the bound; −infinity: every row passes
  CandidateList found;  // bounds by the linear bound; room for the rows looked at and kListPadding
  LinearBound linear_bound;  // set by find_sign_candidates
  /// Of the blocks that were looked at last: which kernel is the faster one.
  bool finds_few = false;
};

/// Adds to what each of `searches` has found, ascending, those rows of the tile's blocks
/// first_block … end_block−1 whose bound is at least the threshold, and few others. The codec has
/// signs.
void find_sign_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                          int end_block, CandidateSearch* searches, int count);

}  // namespace polarquant
