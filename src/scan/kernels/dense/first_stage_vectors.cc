// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/first_stage_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/scan/kernels/decode/decode_rows.h"

namespace polarquant {

// split_bound (scan_query.cc) has other_slope/slope = √(π/2)·unit of W/(step of A · stage's step),
// so that with this c a query's p_j are twice what its weights stand for in A's step: up to 3
// units, which are half of what its values reach where W's are as large as A's. Larger p_j, whose
// rounding adds less to the margin, could leave a byte.
FirstStageVectors::FirstStageVectors(const ScanCodec& codec)
    : codec_(codec),
      first_lanes_(codec.stages()[0].padded_dim()),
      word_lanes_(codec.words_behind_first_stage() * kSegmentLanes),
      sign_value_(static_cast<int>(
          std::clamp(std::round(std::sqrt(std::numbers::pi / 2) / (2 * codec.stages()[0].step)),
                     1.0, double{kMaxInt8}))) {}

float FirstStageVectors::put_query(const ScanQuery& query, int8_t* lanes) const {
  std::copy_n(query.values.data(), first_lanes_, lanes);
  const SumBound& bound = query.first_stage;
  const double of_lane = double{bound.slope} * sign_value_;
  double rounding = 0;
  double sizes = std::fabs(bound.margin) +
                 double{bound.squared_norm_slope} * kMaxInt8 * kMaxInt8 * first_lanes_;
  for (int i = 0; i < first_lanes_; ++i) sizes += bound.slope * kMaxInt8 * std::abs(lanes[i]);
  std::fill_n(lanes + first_lanes_, word_lanes_, int8_t{0});
  const int first = codec_.first_stage_words() * kSegmentLanes;
  const int end = std::min(codec_.dim(), first + word_lanes_);
  for (int j = first; j < end; ++j) {
    const int lane = lane_of(j, codec_.dim());
    const auto word = static_cast<size_t>(lane / kSegmentLanes);
    const uint64_t bit = uint64_t{1} << lane % kSegmentLanes;
    const int weight = word_distance(query, word, bit);
    const double term =
        bound.other_slope * ((query.sign_words[word] & bit) != 0 ? -weight : weight);
    const double value = of_lane > 0 ? std::round(term / of_lane) : 0;
    int8_t& rounded = lanes[first_lanes_ + lane - first];
    rounded = static_cast<int8_t>(std::clamp(value, double{-kMaxInt8}, double{kMaxInt8}));
    rounding += std::fabs(of_lane * rounded - term);
    sizes += std::fabs(term);
  }
  // Float sums, of four terms each.
  rounding += 8 * sizes * std::numeric_limits<float>::epsilon();
  return static_cast<float>(bound.margin + rounding);
}

void FirstStageVectors::put_rows(const RowPlace* at, int count, int8_t* rows) const {
  const auto stride = static_cast<size_t>(padded_dim());
  decode_int8_rows(codec_, codec_.stages()[0], at, count, stride, rows);
  for (int word = 0; word < word_lanes_ / kSegmentLanes; ++word)
    put_sign_lanes(codec_, codec_.first_stage_words() + word, static_cast<int8_t>(sign_value_), at,
                   count, stride, rows + first_lanes_ + word * kSegmentLanes);
}

}  // namespace polarquant
