// SPDX-License-Identifier: MIT
// For codes in two stages: from a chunk's dot products by the first one to the rows that its bound
// keeps, and from these to the few whose scores reach.
#pragma once

#include <cstdint>

#include "src/scan/kernels/dense/dense_matches.h"
#include "src/scan/kernels/dense/query_tile_dots.h"

namespace polarquant {

/// A chunk's rows for bounds that are solved for the dot product: base + weight·constant +
/// norm·(dot scale·dot + margin − squared_norm slope·squared_norm) ≥ threshold for a dot of at
/// least (threshold − base)/dot_scale·(1/norm) − weight/dot_scale·(constant/norm) −
/// margin/dot_scale + squared_norm slope/dot_scale·squared_norm.
struct BoundRows {
  alignas(64) float norm[kChunkRows];
  alignas(64) float constant[kChunkRows];
  alignas(64) float inverse[kChunkRows];  // 1/norm; NaN, which any dot reaches, without a norm
  alignas(64) float ratio[kChunkRows];    // constant/norm
  alignas(64) float squared_norm[kChunkRows];
  float max_inverse = 0;
  float max_ratio = 0;  // of the magnitudes
  float max_squared_norm = 0;
  uint64_t allowed = 0;  // bit r: row r takes part
  ChunkTerms terms;      // of norm, constant and squared_norm
};
/// As make_chunk_terms. squared_norm: (kChunkRows); any value for rows that take no part.
void set_bound_rows(const float* norm, const float* constant, const float* squared_norm,
                    BoundRows* rows);

/// Writes the (row, query) pairs whose bound is at least the query's threshold, and some whose
/// bound is less by roundings. Made for one match in a hundred pairs, where find_dense_matches is
/// for one in a thousand.
int find_bound_matches(const int32_t* dots, int query_tiles, const QueryTileConstants* constants,
                       const float* thresholds, const BoundRows& rows, DenseMatch* matches);

/// What scores read of a chunk's rows, by stage: values every `stride` bytes.
struct MatchRows {
  bool second_is_operand;  // its values are set by set_operand_rows (decode_rows.h)
  const int8_t* values[2];
  int stride[2];
  int dims[2];
  const float* scale;
  const float* constant;
};
/// What scores read of a query.
struct MatchQuery {
  const int8_t* values[2];  // by stage, borrowed
  int32_t second_sum;       // Σ values of the second stage
  ScoreConstants score;
};

/// Sets the dots of `count` matches, which have space for three more, and keeps those whose score
/// is not below their query's threshold; returns how many. With `first_is_known` the first stage's
/// dots are set already.
int keep_bound_matches(const MatchRows& rows, const MatchQuery* queries, const float* thresholds,
                       bool first_is_known, DenseMatch* matches, int count);

}  // namespace polarquant
