// SPDX-License-Identifier: MIT
// Scores between rows by their decoded floats, for codes whose rows are not compared by int8
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"

namespace polarquant {

/// Codec::score_codes, with the row that others are compared with, and the chosen ones
/// (row_scorer.h), decoded once. For one thread; the codec is borrowed. Takes memory when it is
/// first asked: every search makes a scorer, and compares no rows.
class DecodedPairs {
 public:
  /// Codec::decode_for_score of a row.
  using Decode = std::function<RowTerms(int64_t row, float* y)>;

  DecodedPairs(const Codec& codec, Decode decode);

  void score(int64_t row, const int32_t* others, int count, float* scores);
  void forget_chosen() { chosen_terms_.clear(); }
  bool is_near_chosen(int32_t row, float key);
  void choose();

 private:
  /// Makes a row the one that others are compared with.
  void take(int64_t row);

  const Codec& codec_;
  Decode decode_;
  size_t dim_;
  int64_t row_ = -1;
  RowTerms terms_;
  AlignedVector<float> y_;
  AlignedVector<float> other_;
  std::vector<RowTerms> chosen_terms_;
  AlignedVector<float> chosen_;  // (dim) for each, and space for more
};

}  // namespace polarquant
