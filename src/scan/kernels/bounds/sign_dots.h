// SPDX-License-Identifier: MIT
// The second stage of a staged search. Of the first stage's candidates it keeps those that may
// reach a threshold by all of their signs (sign_bound in scan_query.h), or, for codes with split
// stages, by the first one's score (first_stage_bound). It uses the sketch's distance that the
// first stage found, so that it reads only factors and the signs after the sketch, or factors and
// the first of split stages.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Rows that the second stage keeps, with the numbers that the next stages need.
struct KeptRows {
  uint32_t* rows;  // of the tile
  SignSums* sums;
  ScanTerms* terms;
  int32_t* first_dots;  // for split stages: the first one's Σ value·value
};

/// Writes those of `count` candidates (sketch_candidates.h) whose bound is at least the threshold,
/// in order, and returns how many they are. All arrays have space for 4 more; those of `candidates`
/// are overwritten. The codec has signs; the second form is for split stages.
int keep_by_signs(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                  float threshold, uint32_t* candidates, int count, const KeptRows& kept);
int keep_by_first_stage(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                        float threshold, uint32_t* candidates, int count, const KeptRows& kept);

/// bounds[i] = sign_bound of row at[i], where rows have no words in a sketch (RowOrder::single).
/// Both arrays have space for 4 more; those of `at` are overwritten.
void single_sign_bounds(const ScanCodec& codec, const ScanQuery& query, RowPlace* at, int count,
                        float* bounds);

/// sketch_distance() and other_sum() of row_values.h.
SignSums sign_sums(const ScanCodec& codec, const ScanQuery& query, const RowPlace& at);

}  // namespace polarquant
