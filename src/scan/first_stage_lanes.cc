// SPDX-License-Identifier: MIT
#include "src/scan/first_stage_lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/scan/kernels/level_rows.h"

namespace polarquant {

// With this c a query's p_j are about its levels in A's step: split_bound (scan_query.cc) has
// level_slope/slope = √(π/2)·step of W/(step of A · stage's step).
FirstStageLanes::FirstStageLanes(const ScanCodec& codec)
    : codec_(codec),
      first_lanes_(codec.stages()[0].lanes()),
      word_lanes_(codec.has_split_stages() ? codec.level_words() * kSegmentLanes : 0),
      sign_level_(static_cast<int>(
          std::clamp(std::round(std::sqrt(std::numbers::pi / 2) / codec.stages()[0].step), 1.0,
                     double{kMaxLevel}))) {}

float FirstStageLanes::put_query(const ScanQuery& query, int8_t* lanes) const {
  std::copy_n(query.levels.data(), first_lanes_, lanes);
  const SumBound& bound = query.first_stage;
  const double of_lane = double{bound.slope} * sign_level_;
  double rounding = 0;
  double sizes = std::fabs(bound.margin);
  for (int i = 0; i < first_lanes_; ++i) sizes += bound.slope * kMaxLevel * std::abs(lanes[i]);
  for (int i = 0; i < word_lanes_; ++i) {
    const auto lane = static_cast<size_t>(codec_.first_level_word() * kSegmentLanes + i);
    const double term = double{bound.level_slope} * query.levels[lane];
    const double level = of_lane > 0 ? std::round(term / of_lane) : 0;
    lanes[first_lanes_ + i] =
        static_cast<int8_t>(std::clamp(level, double{-kMaxLevel}, double{kMaxLevel}));
    rounding += std::fabs(of_lane * lanes[first_lanes_ + i] - term);
    sizes += std::fabs(term);
  }
  // Float sums, of four terms each.
  rounding += 8 * sizes * std::numeric_limits<float>::epsilon();
  return static_cast<float>(bound.margin + rounding);
}

void FirstStageLanes::put_rows(const RowPlace* at, int count, int8_t* rows) const {
  const auto stride = static_cast<size_t>(lanes());
  decode_level_rows(codec_, codec_.stages()[0], at, count, stride, rows);
  for (int word = 0; word < word_lanes_ / kSegmentLanes; ++word)
    put_sign_lanes(codec_, codec_.first_level_word() + word, static_cast<int8_t>(sign_level_), at,
                   count, stride, rows + first_lanes_ + word * kSegmentLanes);
}

}  // namespace polarquant
