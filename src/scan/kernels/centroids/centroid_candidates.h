// SPDX-License-Identifier: MIT
// The first stage of a search of codes about centroids: which rows of a tile may reach a threshold,
// by centroid_bound (scan_query.h), which needs no more of a row than what is beside its planes.
#pragma once

#include "src/scan/kernels/sketch/sketch_candidates.h"

namespace polarquant {

/// As find_sketch_candidates, for codecs that have centroids; distances are 0.
void find_centroid_candidates(const ScanCodec& codec, const ScanTile& tile, int first_block,
                              int end_block, CandidateSearch* searches, int count);

}  // namespace polarquant
