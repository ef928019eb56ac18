// SPDX-License-Identifier: MIT
// From a chunk's dot products to the few rows that reach a query's threshold.
#pragma once

#include <cstdint>

#include "src/scan/kernels/panel_dots.h"

namespace polarquant {

/// Score constants (scan_query.h) of a panel's queries; 0 in slots without a query.
struct PanelConstants {
  alignas(64) float base[kPanelQueries] = {};
  alignas(64) float weight[kPanelQueries] = {};
  alignas(64) float dot_scale[2][kPanelQueries] = {};
};

struct DenseHit {
  int32_t row;    // of the chunk
  int32_t query;  // 16·panel + slot
  int32_t dot[2];
};

/// Terms of a chunk's rows, (kChunkRows) each on 64-byte boundaries.
struct ChunkTerms {
  const float* scale;
  const float* constant;
};

/// Writes the (row, query) whose goodness is at least the query's threshold; `hits` has room for
/// all. thresholds: (16·panels) on a 64-byte boundary, +infinity in slots without a query. dots as
/// panel_dots leaves them; second_dots, of a second stage, may be null. Returns how many.
int find_dense_hits(const int32_t* dots, const int32_t* second_dots, int panels,
                    const PanelConstants* constants, const float* thresholds,
                    const ChunkTerms& terms, DenseHit* hits);

}  // namespace polarquant
