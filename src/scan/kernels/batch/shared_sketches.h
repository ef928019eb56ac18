// SPDX-License-Identifier: MIT
// The first stage of a staged search for many queries over the same rows. Sketches of a few blocks
// are laid out once: some coordinates of a register of rows side by side. What a query's signs and
// weights make of the ways that a row's can be there is a table, looked up for all these rows by
// one instruction (as in FastScan, André et al. 2015). Distances are those of sketch_candidates.h;
// rows pass by a threshold of the distance instead of a bound, which spares the bound's arithmetic
// for those that do not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

/// Sketches of some blocks of a tile, laid out for many queries.
struct SharedFronts {
  /// Of 45 KB with AVX3_DL, 64 KB elsewhere: a search takes .92 and .95 of the time that it takes
  /// with 8 (117,659 × 384 rows, 1,000 queries), whose tables are made anew twice as often.
  static constexpr int kMostBlocks = 16;

  /// Norms and ratios, in units, between which thresholds are made. Those of few rows are beyond,
  /// and would take the precision of all others' thresholds with them: roundings are of the largest
  /// of all.
  static constexpr float kLeastNorm = 0x1p-13F;
  static constexpr float kMostRatio = 0x1p14F;

  /// Planes of a block: an index for each row, of four coordinates or more.
  static constexpr int kMostPlanes = kMaxSketchWords * 16;

  int blocks = 0;
  /// As the kernels of this machine want them.
  alignas(64) uint8_t planes[kMostBlocks * kMostPlanes * kBlockRows];
  /// 1/‖x−c‖ and constant/‖x−c‖ as stored, units left out, in an order that kernels want.
  alignas(64) float inverse_norms[kMostBlocks][kBlockRows];
  alignas(64) float ratios[kMostBlocks][kBlockRows];
  /// The same over the largest of them, times 32767.
  alignas(64) int16_t short_inverse_norms[kMostBlocks][kBlockRows];
  alignas(64) int16_t short_ratios[kMostBlocks][kBlockRows];
  uint64_t allowed[kMostBlocks];            // as of the tile
  uint64_t without_threshold[kMostBlocks];  // rows that pass at any distance
  float most_inverse = 0;                   // of the magnitudes in all blocks
  float most_ratio = 0;
};

/// Distances of some words are added up in a byte first, without saturation, which takes longer: of
/// two words, but of the first by itself where it has a third bit; none is larger than 255
/// (scan_query.cc). The first word of such a sum.
constexpr int first_word_of_sum(int sum, bool third_bit) {
  return third_bit && sum > 0 ? 2 * sum - 1 : 2 * sum;
}

/// A query as it meets shared sketches: few bytes, since many queries take turns in a second-level
/// cache.
struct SketchQuery {
  static constexpr int kMostParts = kMaxSketchWords * 44;

  /// Signs and weights of some coordinates each, as the kernels of this machine want them.
  uint8_t parts[kMostParts];
  /// Of the first word, where it has a third bit: the same with that as the lowest bit of weights.
  uint8_t third_parts[kMostParts / kMaxSketchWords];
  /// A row reaches a threshold if its distance is at most
  /// height + (base − threshold)·inverse_tilt/norm + ratio·constant/norm.
  float height;
  float base;
  float inverse_tilt;
  float ratio;
};

/// The distance up to which rows reach a threshold, of a row at + inverse·(1/‖x−c‖) +
/// ratio·(constant/‖x−c‖): base + weight·constant + ‖x−c‖·(height − tilt·h) ≥ threshold solved for
/// h.
struct DistanceThreshold {
  static constexpr float kMost = 32767;  // above any distance

  float at;  // with `rounding` added
  float inverse;
  float ratio;
  float
      rounding;  // what roundings, those of the bounds themselves too, can take from the threshold

  DistanceThreshold() = default;
  DistanceThreshold(const SketchQuery& query, const SharedFronts& sketches, float threshold)
      : inverse((query.base - threshold) * query.inverse_tilt), ratio(query.ratio) {
    constexpr float kRounding = 1.0F / (1 << 20);
    const float sizes = (std::fabs(query.base) + std::fabs(threshold)) * query.inverse_tilt;
    rounding = kRounding * (std::fabs(query.height) + sizes * sketches.most_inverse +
                            std::fabs(query.ratio) * sketches.most_ratio);
    at = query.height + rounding;
  }

  /// No threshold of these sketches is larger, nor what it is a sum of.
  float size(const SharedFronts& sketches) const {
    return std::fabs(at) + std::fabs(inverse) * sketches.most_inverse +
           std::fabs(ratio) * sketches.most_ratio;
  }
  /// What thresholds are too large by, at the most. Those of 16 bits are by 7.5 in the last bit,
  /// which is 1/64, or more where that has no capacity.
  float excess(const SharedFronts& sketches) const {
    return 2 * rounding + 7.5F * std::max(1.0F / 64, size(sketches) / 16000);
  }
};

/// What kernels this machine has for it.
enum class SharedKernels : uint8_t {
  none,       // none of those below is called
  narrow,     // registers of 16 bytes
  wide,       // larger ones
  permuting,  // of 64 bytes, which are permuted at once
};
SharedKernels shared_kernels();
inline bool can_share_sketches() { return shared_kernels() != SharedKernels::none; }
/// The codec has signs; at most kMostBlocks blocks of the tile.
void lay_out_sketches(const ScanCodec& codec, const ScanTile& tile, int first_block, int end_block,
                      SharedFronts* sketches);
void set_sketch_query(const ScanCodec& codec, const ScanQuery& query, SketchQuery* sketch);

/// Rows of shared blocks that a query selections, counted from the first block's first, ascending.
struct CandidateRows {
  alignas(64) uint16_t rows[SharedFronts::kMostBlocks * kBlockRows + 64];  // kernels write ahead
  int count;
};
/// What a query selects by.
struct SketchSelection {
  const SketchQuery* query;
  float threshold;
  CandidateRows* candidates;  // to be written
};
/// For each query, the rows whose bound by the sketch reaches its threshold, and few others: those
/// whose distance is beyond the threshold by less than DistanceThreshold::excess, and where a
/// threshold is 255 or more, or below 0, those of so much, or of 0. Kernels take two or four
/// queries at a time.
void select_rows(const ScanCodec& codec, const SharedFronts& sketches,
                 std::span<const SketchSelection> selections);

}  // namespace polarquant
