// SPDX-License-Identifier: MIT
// The second stage of a staged search: of the rows that the first one leaves, those that may reach
// a threshold by the query's levels against all of the rows' signs (DotBound `signs` in
// scan_query.h). Its cost is a third of a score's.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"

namespace polarquant {

/// Rows that the second stage leaves, with what the next stages need of them.
struct KeptRows {
  uint32_t* rows;    // of the tile; on input those to look at
  ScanTerms* terms;  // out
  float* bounds;     // out
};

/// Keeps in `kept` those of its first `count` rows whose bound is at least the threshold, in order,
/// and returns how many they are. The arrays have room for 4 more. The codec has signs.
int keep_by_sign_dot(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                     float threshold, KeptRows kept, int count);

/// front_distance() and sign_dot() of row_levels.h.
SignSums sign_sums(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);

}  // namespace polarquant
