// SPDX-License-Identifier: MIT
// From a chunk's dot products to the few rows that reach a query's threshold.
#pragma once

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"

namespace polarquant {

/// Score constants (scan_query.h) of a query tile's queries; 0 in slots without a query. dot_scale
/// ≥ 0. Bounds also have a margin, which is added to the scaled dot products
/// ChunkTerms::margin_unit times, and the slope of the row's squared_norm, which is subtracted.
struct QueryTileConstants {
  alignas(64) float base[kTileQueries] = {};
  alignas(64) float weight[kTileQueries] = {};
  alignas(64) float dot_scale[2][kTileQueries] = {};
  alignas(64) float margin[kTileQueries] = {};
  alignas(64) float squared_norm_slope[kTileQueries] = {};
};

struct DenseMatch {
  int32_t row;    // in the chunk
  int32_t query;  // 16·query_tile + slot
  int32_t dot[2];
};

/// For scores, and for bounds without squared_norm.
alignas(64) inline constexpr float kNoSquaredNorms[kChunkRows] = {};

/// Terms of a chunk's rows, (kChunkRows) each on 64-byte boundaries. A constant that is NaN keeps
/// its row out.
struct ChunkTerms {
  const float* scale;  // ≥ 0; for bounds the norm
  const float* constant;
  const float* squared_norm;  // ≥ 0
  float margin_unit = 1;
  float min_squared_norm = 0;  // of rows whose constants are numbers
  float max_scale = 0;
  float inverse_max_scale = 0;  // 0 where the largest scale is 0
  float min_constant = 0;       // of constants that are numbers
  float max_constant = 0;
};
ChunkTerms make_chunk_terms(const float* scale, const float* constant,
                            const float* squared_norm = kNoSquaredNorms);

/// Writes the (row, query) pairs whose similarity, or bound, is at least the query's threshold;
/// `matches` has space for all. thresholds: (16·query_tiles) on a 64-byte boundary, +infinity in
/// slots without a query. dots as query_tile_dots leaves them; second_dots, of a second stage, may
/// be null. Returns how many.
///
/// For one stage, a row's dot alone leaves most rows out, by a limit from the threshold, the
/// chunk's largest scale and its best constant. That takes two instructions for 16 queries instead
/// of eight; what passes is then compared with the threshold itself.
int find_dense_matches(const int32_t* dots, const int32_t* second_dots, int query_tiles,
                       const QueryTileConstants* constants, const float* thresholds,
                       const ChunkTerms& terms, DenseMatch* matches);

}  // namespace polarquant
