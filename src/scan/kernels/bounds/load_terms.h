// SPDX-License-Identifier: MIT
// The score terms of a block's rows, from stored factors.
#pragma once

#include <cstdint>

#include "src/scan/model/scan_codec.h"

namespace polarquant {

/// Terms of the `capacity` rows of a block into arrays for kBlockRows rows on 64-byte boundaries;
/// those after `capacity` are 0. Equal to load_terms (row_values.h) of each row, where the norm is
/// the scale or, for L2, the bias.
void load_block_terms(const ScanCodec& codec, const uint8_t* block, int capacity, float* scale,
                      float* constant, float* bias);

/// The numbers of the rows' centroids, (kBlockRows), for codes that have them. What is no
/// centroid's number, which any bytes can say, is that of the last one; those after `capacity` are
/// 0.
void load_centroids(const ScanCodec& codec, const uint8_t* block, int capacity, int32_t* centroid);

}  // namespace polarquant
