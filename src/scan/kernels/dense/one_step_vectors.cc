// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/one_step_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/scan/kernels/decode/decode_rows.h"

namespace polarquant {
namespace {

int dims_with_bits(const Int8Stage& stage) {
  const Int8Part& last = stage.parts.back();
  return (last.first_segment - stage.first_segment + last.segments()) * kSegmentDims;
}

}  // namespace

OneStepVectors::OneStepVectors(const ScanCodec& codec)
    : codec_(codec),
      first_dims_(codec.stages()[0].padded_dim()),
      second_dims_(dims_with_bits(codec.stages()[1])) {}

OneStepVectors::Scales OneStepVectors::put_query(const ScanQuery& query, int8_t* values) const {
  const float(&scales)[2] = query.score.dot_scale;
  const double unit = std::max(scales[0], scales[1]);
  const double ratios[2] = {unit > 0 ? scales[0] / unit : 0, unit > 0 ? scales[1] / unit : 0};
  double errors = 0;   // Σ e²
  double squares = 0;  // Σ (query value·d/u)²
  for (int position = 0; position < this->padded_dim(); ++position) {
    const double value =
        query.values[static_cast<size_t>(position)] * ratios[position < first_dims_ ? 0 : 1];
    const auto rounded = static_cast<double>(std::lrint(value));
    values[position] = static_cast<int8_t>(rounded);
    errors += (value - rounded) * (value - rounded);
    squares += value * value;
  }
  // The float sums of a score, and those compared with it here, have four terms each, none of which
  // is larger than the query's length times the row's.
  const double rounding = 16 * std::sqrt(squares) * std::numeric_limits<float>::epsilon();
  return {static_cast<float>(unit), static_cast<float>(unit * (std::sqrt(errors) + rounding))};
}

void OneStepVectors::put_rows(const RowPlace* at, int count, int8_t* values) const {
  const auto stride = static_cast<size_t>(this->padded_dim());
  decode_int8_rows(codec_, codec_.stages()[0], at, count, stride, values);
  decode_int8_rows(codec_, codec_.stages()[1], at, count, stride, values + first_dims_);
}

}  // namespace polarquant
