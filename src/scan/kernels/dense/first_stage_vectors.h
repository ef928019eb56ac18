// SPDX-License-Identifier: MIT
// Rows and queries of a code in two stages, as vectors whose dot products tell the bound by the
// first one: a product of matrices then leaves nearly all rows out before the second stage is read.
//
// The bound (sum_bound in scan_query.h) is slope·Σ_A value·value + other_slope·Σ_W weight·(±1) +
// margin over a row's length, A the first stage's dimensions and W those of the sketch's words
// after it. A vector has A's dimensions, then W's: a row has ±c there, a query its signed weights
// in the unit of A's products, p_j = other_slope·weight_j/(slope·c), rounded. The most that
// rounding changes a bound, Σ_W |slope·c·p_j − other_slope·weight_j|, is added to the margin: no
// row is left out that the bound itself would keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

class FirstStageVectors {
 public:
  /// For a codec in two stages whose rows have bounds.
  explicit FirstStageVectors(const ScanCodec& codec);

  /// A multiple of 64.
  int padded_dim() const { return first_dims_ + word_dims_; }
  /// Whether a dot product is the first stage's own.
  bool is_first_stage() const { return word_dims_ == 0; }

  /// Writes a query's values, and returns the margin of its bounds.
  float put_query(const ScanQuery& query, int8_t* values) const;
  /// Writes the values of `count` rows, up to kBlockRows, one after the other.
  void put_rows(const RowPlace* at, int count, int8_t* values) const;

 private:
  const ScanCodec& codec_;
  int first_dims_;
  int word_dims_;
  int sign_value_;  // c
};

}  // namespace polarquant
