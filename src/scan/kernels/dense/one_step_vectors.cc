// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/one_step_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/scan/kernels/decode/decode_rows.h"

namespace polarquant {
namespace {

int lanes_with_bits(const Int8Stage& stage) {
  const Int8Part& last = stage.parts.back();
  return (last.first_segment - stage.first_segment + last.segments()) * kSegmentLanes;
}

}  // namespace

OneStepVectors::OneStepVectors(const ScanCodec& codec)
    : codec_(codec),
      first_lanes_(codec.stages()[0].padded_dim()),
      second_lanes_(lanes_with_bits(codec.stages()[1])) {}

OneStepVectors::Scales OneStepVectors::put_query(const ScanQuery& query, int8_t* lanes) const {
  const float(&scales)[2] = query.score.dot_scale;
  const double unit = std::max(scales[0], scales[1]);
  const double ratios[2] = {unit > 0 ? scales[0] / unit : 0, unit > 0 ? scales[1] / unit : 0};
  double errors = 0;   // Σ e²
  double squares = 0;  // Σ (query value·d/u)²
  for (int lane = 0; lane < this->padded_dim(); ++lane) {
    const double value =
        query.values[static_cast<size_t>(lane)] * ratios[lane < first_lanes_ ? 0 : 1];
    const auto rounded = static_cast<double>(std::lrint(value));
    lanes[lane] = static_cast<int8_t>(rounded);
    errors += (value - rounded) * (value - rounded);
    squares += value * value;
  }
  // The float sums of a score, and of what it is held against here, are of four terms each, none of
  // which is larger than the query's length times the row's.
  const double rounding = 16 * std::sqrt(squares) * std::numeric_limits<float>::epsilon();
  return {static_cast<float>(unit), static_cast<float>(unit * (std::sqrt(errors) + rounding))};
}

void OneStepVectors::put_rows(const RowPlace* at, int count, int8_t* lanes) const {
  const auto stride = static_cast<size_t>(this->padded_dim());
  decode_int8_rows(codec_, codec_.stages()[0], at, count, stride, lanes);
  decode_int8_rows(codec_, codec_.stages()[1], at, count, stride, lanes + first_lanes_);
}

}  // namespace polarquant
