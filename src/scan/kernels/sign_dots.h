// SPDX-License-Identifier: MIT
// The second stage of a staged search: of the rows that the Hamming distance leaves, those that may
// reach a threshold by the query's levels against the rows' signs (DotBound `signs` in scan_query.h).
// Its error is half of the Hamming bound's, its cost a third of a score's.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"

namespace polarquant {

/// Keeps in `rows` (rows of the tile, `count` of them) those whose bound is at least the threshold, in
/// order, with their bounds, and returns how many they are. Both arrays have room for 4 more.
int keep_by_sign_dot(const ScanTile& tile, int sign_words, const ScanQuery& query, float threshold,
                     uint32_t* rows, int count, float* bounds);

}  // namespace polarquant
