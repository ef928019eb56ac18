// SPDX-License-Identifier: MIT
// From a chunk's dot products to the few rows that reach a query's threshold.
#pragma once

#include <cstdint>

#include "src/scan/kernels/dense/query_tile_dots.h"

namespace polarquant {

/// Score constants (scan_query.h) of a panel's queries; 0 in slots without a query. dot_scale ≥ 0.
/// Of a bound the margin, too, which is added to the scaled dot products, ChunkTerms::margin_unit
/// times, and the slope of the row's energy, which is taken off.
struct PanelConstants {
  alignas(64) float base[kPanelQueries] = {};
  alignas(64) float weight[kPanelQueries] = {};
  alignas(64) float dot_scale[2][kPanelQueries] = {};
  alignas(64) float margin[kPanelQueries] = {};
  alignas(64) float energy_slope[kPanelQueries] = {};
};

struct DenseHit {
  int32_t row;    // of the chunk
  int32_t query;  // 16·panel + slot
  int32_t dot[2];
};

/// Of scores, and of bounds that take no energy.
alignas(64) inline constexpr float kNoEnergies[kChunkRows] = {};

/// Terms of a chunk's rows, (kChunkRows) each on 64-byte boundaries. A constant that is NaN keeps
/// its row out.
struct ChunkTerms {
  const float* scale;  // ≥ 0; of bounds their norm
  const float* constant;
  const float* energy;  // ≥ 0
  float margin_unit = 1;
  float min_energy = 0;  // of rows whose constants are numbers
  float max_scale = 0;
  float inverse_max_scale = 0;  // 0 where that is 0
  float min_constant = 0;       // of those that are numbers
  float max_constant = 0;
};
ChunkTerms make_chunk_terms(const float* scale, const float* constant,
                            const float* energy = kNoEnergies);

/// Writes the (row, query) whose goodness, or bound, is at least the query's threshold; `hits` has
/// room for all. thresholds: (16·panels) on a 64-byte boundary, +infinity in slots without a query.
/// dots as panel_dots leaves them; second_dots, of a second stage, may be null. Returns how many.
///
/// Of one stage, most rows are refused by their dot alone: up to what the threshold, the
/// chunk's largest scale and its best constant leave out. Two instructions for 16 queries instead
/// of eight; what passes is held against the threshold itself.
int find_dense_hits(const int32_t* dots, const int32_t* second_dots, int panels,
                    const PanelConstants* constants, const float* thresholds,
                    const ChunkTerms& terms, DenseHit* hits);

}  // namespace polarquant
