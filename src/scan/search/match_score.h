// SPDX-License-Identifier: MIT
// From the dot products of a row with a query to its place among the query's best.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/scan/kernels/bounds/sign_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// The threshold of scores by values, where `reached` is that of scores with the error_bound: a
/// little lower, for the rounding of this difference. Scores that pass are then compared with
/// `reached`.
inline float lowered_threshold(float reached, float error_bound) {
  return error_bound == 0 ? reached
                          : reached - error_bound - 1e-6F * (std::fabs(reached) + error_bound);
}

/// A row of a tile and its products with a query.
struct MatchedRow {
  uint32_t row;
  ScanTerms terms;
  int32_t dot[2];  // Σ value·value, by stage
};

/// Brings a row of the tile into *best if it belongs there, by its score and, where `bounded`, its
/// bounds.
inline void push_by_dots(const ScanCodec& codec, const ScanTile& tile, const ScanQuery& query,
                         const MatchedRow& match, bool bounded, TopK* best) {
  const auto& [row, terms, dot] = match;
  const bool two_stages = codec.stages().size() == 2;
  const ScoreConstants constants = query.score_of(terms);
  float score = two_stages ? similarity(constants, terms, dot[0], dot[1])
                           : similarity(constants, terms, dot[0]);
  score = with_error_bound(query, terms, score);
  if (!(-score <= best->worst_key())) return;
  float least = score;
  if (bounded) {
    const SignSums signs =
        codec.has_centroids() ? SignSums() : sign_sums(codec, query, place_of(tile, row));
    least = bounded_score(query, terms, score, signs, two_stages, dot[0]);
  }
  best->push({-least, -score, id_of(tile, row)});
}

}  // namespace polarquant
