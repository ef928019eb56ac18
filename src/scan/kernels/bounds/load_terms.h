// SPDX-License-Identifier: MIT
// The score terms of a block's rows, from stored factors.
#pragma once

#include <cstdint>

#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_codec.h"

namespace polarquant {

/// Terms of the `capacity` rows of a block into arrays for kBlockRows rows on 64-byte boundaries;
/// those after `capacity` are 0. Equal to load_terms (row_values.h) of each row, where the norm is
/// the scale or, for L2, the bias.
void load_block_terms(const ScanCodec& codec, const uint8_t* block, int capacity, float* scale,
                      float* constant, float* bias);
/// The same for `capacity` rows, a multiple of 8, whose factors lie side by side.
void load_terms_of(const ScanCodec& codec, const uint8_t* factors, int capacity, float* scale,
                   float* constant, float* bias);

/// The numbers of the rows' centroids, (kBlockRows) on a 64-byte boundary, for codes that have
/// them. What is no centroid's number, which any bytes can say, is that of the last one; those
/// after `capacity` are 0.
void load_centroids(const ScanCodec& codec, const uint8_t* block, int capacity, int32_t* centroid);
/// The same for factors side by side.
void load_centroids_of(const ScanCodec& codec, const uint8_t* factors, int capacity,
                       int32_t* centroid);

/// The terms of rows that lie anywhere in a tile; those after the last one are 0.
struct GatheredTerms {
  alignas(64) float scale[kBlockRows];
  alignas(64) float constant[kBlockRows];
  alignas(64) float bias[kBlockRows];
  alignas(64) int32_t centroid[kBlockRows];  // where codes have them

  /// As load_terms of row_values.h.
  ScanTerms row(int i, const ScanCodec& codec) const {
    if (codec.has_centroids())
      return {scale[i], constant[i], scale[i], static_cast<float>(centroid[i])};
    return {scale[i], constant[i], codec.metric() == Metric::l2 ? bias[i] : scale[i]};
  }
};
/// `count`: 1 to kBlockRows.
void gather_terms(const ScanCodec& codec, const ScanTile& tile, const uint32_t* rows, int count,
                  GatheredTerms* terms);

}  // namespace polarquant
