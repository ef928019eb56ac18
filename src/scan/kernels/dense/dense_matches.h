// SPDX-License-Identifier: MIT
// From a chunk's dot products to the few rows that reach a query's threshold.
#pragma once

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"

namespace polarquant {

/// Score constants (scan_query.h) of a query_tile's queries; 0 in slots without a query. dot_scale
/// ≥ 0. Of a bound the margin, too, which is added to the scaled dot products,
/// ChunkTerms::margin_unit times, and the slope of the row's squared_norm, which is taken off.
struct QueryTileConstants {
  alignas(64) float base[kTileQueries] = {};
  alignas(64) float weight[kTileQueries] = {};
  alignas(64) float dot_scale[2][kTileQueries] = {};
  alignas(64) float margin[kTileQueries] = {};
  alignas(64) float squared_norm_slope[kTileQueries] = {};
};

struct DenseMatch {
  int32_t row;    // of the chunk
  int32_t query;  // 16·query_tile + slot
  int32_t dot[2];
};

/// Of scores, and of bounds that take no squared_norm.
alignas(64) inline constexpr float kNoSquaredNorms[kChunkRows] = {};

/// Terms of a chunk's rows, (kChunkRows) each on 64-byte boundaries. A constant that is NaN keeps
/// its row out.
struct ChunkTerms {
  const float* scale;  // ≥ 0; of bounds their norm
  const float* constant;
  const float* squared_norm;  // ≥ 0
  float margin_unit = 1;
  float min_squared_norm = 0;  // of rows whose constants are numbers
  float max_scale = 0;
  float inverse_max_scale = 0;  // 0 where that is 0
  float min_constant = 0;       // of those that are numbers
  float max_constant = 0;
};
ChunkTerms make_chunk_terms(const float* scale, const float* constant,
                            const float* squared_norm = kNoSquaredNorms);

/// Writes the (row, query) whose similarity, or bound, is at least the query's threshold; `matches`
/// has room for all. thresholds: (16·query_tiles) on a 64-byte boundary, +infinity in slots without
/// a query. dots as query_tile_dots leaves them; second_dots, of a second stage, may be null.
/// Returns how many.
///
/// Of one stage, most rows are refused by their dot alone: up to what the threshold, the
/// chunk's largest scale and its best constant leave out. Two instructions for 16 queries instead
/// of eight; what passes is held against the threshold itself.
int find_dense_matches(const int32_t* dots, const int32_t* second_dots, int query_tiles,
                       const QueryTileConstants* constants, const float* thresholds,
                       const ChunkTerms& terms, DenseMatch* matches);

}  // namespace polarquant
