// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/first_stage_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/scan/kernels/decode/decode_rows.h"

namespace polarquant {

// split_bound (scan_query.cc) has other_slope/slope = √(π/2)·unit of W/(step of A · stage's step),
// so that with this c a query's p_j are twice the value of its weights in A's step: up to 3 units,
// which are half of what its values reach where W's are as large as A's. Larger p_j would add less
// rounding to the margin, but could leave a byte.
FirstStageVectors::FirstStageVectors(const ScanCodec& codec)
    : codec_(codec),
      first_dims_(codec.stages()[0].padded_dim()),
      word_dims_(codec.words_after_first_stage() * kSegmentDims),
      sign_value_(static_cast<int>(
          std::clamp(std::round(std::sqrt(std::numbers::pi / 2) / (2 * codec.stages()[0].step)),
                     1.0, double{kMaxInt8}))) {}

float FirstStageVectors::put_query(const ScanQuery& query, int8_t* values) const {
  std::copy_n(query.values.data(), first_dims_, values);
  const SumBound& bound = query.first_stage;
  const double unit = double{bound.slope} * sign_value_;
  double rounding = 0;
  double sizes = std::fabs(bound.margin) +
                 double{bound.squared_norm_slope} * kMaxInt8 * kMaxInt8 * first_dims_;
  for (int i = 0; i < first_dims_; ++i) sizes += bound.slope * kMaxInt8 * std::abs(values[i]);
  std::fill_n(values + first_dims_, word_dims_, int8_t{0});
  const int first = codec_.first_stage_words() * kSegmentDims;
  const int end = std::min(codec_.dim(), first + word_dims_);
  for (int j = first; j < end; ++j) {
    const int position = position_of(j, codec_.dim());
    const auto word = static_cast<size_t>(position / kSegmentDims);
    const uint64_t bit = uint64_t{1} << position % kSegmentDims;
    const int weight = word_distance(query, word, bit);
    const double term =
        bound.other_slope * ((query.sign_words[word] & bit) != 0 ? -weight : weight);
    const double value = unit > 0 ? std::round(term / unit) : 0;
    int8_t& rounded = values[first_dims_ + position - first];
    rounded = static_cast<int8_t>(std::clamp(value, double{-kMaxInt8}, double{kMaxInt8}));
    rounding += std::fabs(unit * rounded - term);
    sizes += std::fabs(term);
  }
  // Float sums of four terms each.
  rounding += 8 * sizes * std::numeric_limits<float>::epsilon();
  return static_cast<float>(bound.margin + rounding);
}

void FirstStageVectors::put_rows(const RowPlace* at, int count, int8_t* rows) const {
  const auto stride = static_cast<size_t>(padded_dim());
  decode_int8_rows(codec_, codec_.stages()[0], at, count, stride, rows);
  for (int word = 0; word < word_dims_ / kSegmentDims; ++word)
    put_sign_values(codec_, codec_.first_stage_words() + word, static_cast<int8_t>(sign_value_), at,
                    count, stride, rows + first_dims_ + word * kSegmentDims);
}

}  // namespace polarquant
