// SPDX-License-Identifier: MIT
// The first stage of a staged search: which rows of a tile may reach a threshold, by the signs in
// their sketch (sketch_bound in scan_query.h). The bound is linear in the distance of the signs,
// and is a few roundings too high here: for rows that are scored it is computed exactly.
#pragma once

#include <cstdint>

#include "src/scan/kernels/sketch/candidate_lists.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// A row may pass when base + weight·bias (or −bias², for L2) + norm·(height − tilt·h) ≥ threshold.
/// h is the sketch's distance; factors are as stored, their units are in these constants.
struct LinearBound {
  float base = 0;
  float weight = 0;
  float height = 0;
  float tilt = 0;
  float threshold = 0;
};
/// Every row reaches a threshold that is not finite.
LinearBound linear_bound(const ScanCodec& codec, const ScanQuery& query, float threshold);

/// A candidate: its number in the tile and, above it, its sketch's distance.
inline constexpr int kTileRowBits = 17;
static_assert(kTileRows == 1 << kTileRowBits);
inline uint32_t candidate_of(uint32_t row, int distance) {
  return row | static_cast<uint32_t>(distance) << kTileRowBits;
}
inline uint32_t row_of(uint32_t candidate) { return candidate % kTileRows; }
inline int distance_of(uint32_t candidate) { return static_cast<int>(candidate >> kTileRowBits); }

struct CandidateSearch {
  const ScanQuery* query = nullptr;
  float threshold = 0;       // for the bound; −infinity: every row passes
  CandidateList found;       // bounds by the linear bound; space for all rows and kListPadding
  LinearBound linear_bound;  // set by find_sketch_candidates
};

/// Adds to the results of `searches`, ascending, those rows of the tile's blocks first_block …
/// end_block−1 whose bound is at least the threshold, and few others. The codec has signs.
void find_sketch_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                            int end_block, CandidateSearch* searches, int count);

}  // namespace polarquant
