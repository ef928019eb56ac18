// SPDX-License-Identifier: MIT
// The first stage of a staged search for many queries over the same rows: fronts of a few blocks
// are laid out once, six coordinates of a block's 64 rows side by side, and every query then looks
// up what its six signs and weights make of the 64 ways a row's can be there, for all 64 rows by
// one permutation of bytes (as FastScan does with four bits, André et al. 2015). Distances are
// those of sign_survivors.h; rows pass by a cut of the distance instead of a bound, which spares
// the bound's arithmetic for the rows that do not.
#pragma once

#include <cstdint>

#include "src/scan/kernels/sign_survivors.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/scan_query.h"

namespace polarquant {

/// Six coordinates an index: 11 cover a word's 64, the last with 4.
inline constexpr int kSextetsPerWord = 11;

/// Fronts of some blocks of a tile, laid out for many queries.
struct SharedFronts {
  /// They stay in a first-level cache while queries take turns.
  static constexpr int kMostBlocks = 8;

  int blocks = 0;
  /// By block and sextet: an index for each row, in an order that the kernel wants.
  alignas(64) uint8_t sextets[kMostBlocks][kMaxFrontWords * kSextetsPerWord][kBlockRows];
  /// 1/‖x−c‖ and constant/‖x−c‖ as stored, units left out, in another such order.
  alignas(64) float inverse_norms[kMostBlocks][kBlockRows];
  alignas(64) float ratios[kMostBlocks][kBlockRows];
  uint64_t allowed[kMostBlocks];      // as of the tile
  uint64_t without_cut[kMostBlocks];  // rows that pass at any distance: their norm has no inverse
  float most_inverse = 0;             // of the magnitudes in all blocks
  float most_ratio = 0;
};

/// A query as it meets shared fronts: few bytes, since many queries take turns in a second-level
/// cache.
struct FrontQuery {
  /// Its two bits of each three coordinates: signs, and above them which are heavy. A sextet's
  /// distances are sums of those of its two threes.
  uint8_t threes[2 * kMaxFrontWords * kSextetsPerWord];
  uint8_t word_weights[kMaxFrontWords];
  /// A row reaches a threshold if its distance is at most
  /// height + (base − threshold)·inverse_tilt/norm + ratio·constant/norm.
  float height;
  float base;
  float inverse_tilt;
  float ratio;
};

/// Whether this machine has kernels for fronts so laid out; without, none of the others is called.
bool can_share_fronts();
/// The codec has signs; at most kMostBlocks blocks of the tile.
void lay_out_fronts(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                    SharedFronts* fronts);
void set_front_query(const ScanCodec& codec, const ScanQuery& query, FrontQuery* front);
/// Rows of shared blocks that a query picks, counted from the first block's first, ascending.
struct PickedRows {
  alignas(64) uint16_t rows[SharedFronts::kMostBlocks * kBlockRows + 64];  // kernels write ahead
  int count;
};
/// Picks the rows whose bound by the front reaches the threshold, and few others.
void pick_rows(const ScanCodec& codec, const SharedFronts& fronts, const FrontQuery& query,
               float threshold, PickedRows* picked);

}  // namespace polarquant
