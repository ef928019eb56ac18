// SPDX-License-Identifier: MIT
// The first stage of a staged search for many queries over the same rows. Sketches of a few blocks
// are laid out once: some coordinates of a register of rows side by side. A query has a table with
// the distance of each pattern of these coordinates, which one instruction looks up for all these
// rows (as in FastScan, André et al. 2015). Distances are those of sketch_candidates.h; rows pass
// by a threshold of the distance instead of a bound, which saves the bound's arithmetic for those
// that do not pass.
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
struct SharedSketches {
  /// With more blocks a query's tables, which are made for each call, serve more rows. 45 KB with
  /// AVX3_DL, 64 KB elsewhere.
  static constexpr int kMostBlocks = 16;

  /// Norms and ratios, in units, for which thresholds are made. The few rows beyond pass at any
  /// distance: roundings follow the largest norm and ratio, so that such rows would spoil the
  /// thresholds of all others.
  static constexpr float kLeastNorm = 0x1p-13F;
  static constexpr float kMostRatio = 0x1p14F;

  /// Planes of a block: an index for each row, of four coordinates or more.
  static constexpr int kMostPlanes = kMaxSketchWords * 16;

  int blocks = 0;
  /// In the order that the kernels of this machine need.
  alignas(64) uint8_t planes[kMostBlocks * kMostPlanes * kBlockRows];
  /// 1/‖x−c‖ and constant/‖x−c‖ as stored, units left out, in the order that kernels need.
  alignas(64) float inverse_norms[kMostBlocks][kBlockRows];
  alignas(64) float ratios[kMostBlocks][kBlockRows];
  /// The same divided by the largest of them, times 32767.
  alignas(64) int16_t short_inverse_norms[kMostBlocks][kBlockRows];
  alignas(64) int16_t short_ratios[kMostBlocks][kBlockRows];
  uint64_t allowed[kMostBlocks];            // as of the tile
  uint64_t without_threshold[kMostBlocks];  // rows that pass at any distance
  float most_inverse = 0;                   // of the magnitudes in all blocks
  float most_ratio = 0;
};

/// Distances of some words are first summed in a byte without saturation, which is slower: of two
/// words, or of the first alone where it has a third bit; no sum is larger than 255
/// (scan_query.cc). This is the first word of such a sum.
constexpr int first_word_of_sum(int sum, bool third_bit) {
  return third_bit && sum > 0 ? 2 * sum - 1 : 2 * sum;
}

/// A query for shared sketches: few bytes, since many queries take turns in a second-level cache.
struct SketchQuery {
  static constexpr int kMostParts = kMaxSketchWords * 44;

  /// Signs and weights of some coordinates each, in the order of this machine's kernels.
  uint8_t parts[kMostParts];
  /// For the first word, where it has a third bit: the same with that as the lowest bit of weights.
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
  float rounding;  // the most that roundings, the bounds' too, take from the threshold

  DistanceThreshold() = default;
  DistanceThreshold(const SketchQuery& query, const SharedSketches& sketches, float threshold)
      : inverse((query.base - threshold) * query.inverse_tilt), ratio(query.ratio) {
    constexpr float kRounding = 1.0F / (1 << 20);
    const float sizes = (std::fabs(query.base) + std::fabs(threshold)) * query.inverse_tilt;
    rounding = kRounding * (std::fabs(query.height) + sizes * sketches.most_inverse +
                            std::fabs(query.ratio) * sketches.most_ratio);
    at = query.height + rounding;
  }

  /// No threshold of these sketches is larger, nor is any of its terms.
  float size(const SharedSketches& sketches) const {
    return std::fabs(at) + std::fabs(inverse) * sketches.most_inverse +
           std::fabs(ratio) * sketches.most_ratio;
  }
  /// The most by which thresholds are too large. Those of 16 bits are too large by 7.5 of the last
  /// bit, which is 1/64, or more where thresholds are so large that 1/64 does not fit.
  float excess(const SharedSketches& sketches) const {
    return 2 * rounding + 7.5F * std::max(1.0F / 64, size(sketches) / 16000);
  }
};

/// The kernels that this machine has for shared sketches.
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
                      SharedSketches* sketches);
void set_sketch_query(const ScanCodec& codec, const ScanQuery& query, SketchQuery* sketch);

/// Rows of shared blocks that a query selects, counted from the first block's first, ascending.
struct CandidateRows {
  alignas(64) uint16_t rows[SharedSketches::kMostBlocks * kBlockRows + 64];  // kernels write ahead
  int count;
};
/// By what a query selects rows.
struct SketchSelection {
  const SketchQuery* query;
  float threshold;
  CandidateRows* candidates;  // to be written
};
/// Selects for each query the rows whose bound by the sketch reaches its threshold, and few others:
/// rows whose distance is beyond the threshold by less than DistanceThreshold::excess, rows of
/// distances from 255 on where a threshold is 255 or more, and rows of distance 0 where it is below
/// 0. Kernels take two or four queries at a time.
void select_rows(const ScanCodec& codec, const SharedSketches& sketches,
                 std::span<const SketchSelection> selections);

}  // namespace polarquant
