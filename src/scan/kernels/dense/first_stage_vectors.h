// SPDX-License-Identifier: MIT
// Rows and queries of a code in two stages, as vectors whose dot products tell the bound by the
// first one: products of matrices so leave nearly all rows out before the second is looked at.
//
// The bound (sum_bound in scan_query.h) is slope·Σ_A value·value + other_slope·Σ_W weight·(±1) +
// margin over a row's length, A the first stage's lanes and W those of the sketch's words behind
// split stages' first one. A vector has A's lanes and behind them W's: of a row ±c, of a query its
// signed weights there in the unit of A's products, p_j = other_slope·weight_j/(slope·c), rounded.
// What rounding can make of a bound, Σ_W |slope·c·p_j − other_slope·weight_j|, is added to the
// margin: no row is left out that the bound itself would leave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

class FirstStageVectors {
 public:
  /// Of a codec in two stages whose rows have bounds.
  explicit FirstStageVectors(const ScanCodec& codec);

  /// A multiple of 64.
  int padded_dim() const { return first_lanes_ + word_lanes_; }
  /// Whether a dot product is the first stage's own.
  bool is_first_stage() const { return word_lanes_ == 0; }

  /// Writes a query's lanes, and returns the margin of its bounds.
  float put_query(const ScanQuery& query, int8_t* lanes) const;
  /// Writes the lanes of `count` rows, up to kBlockRows, each behind the other.
  void put_rows(const RowPlace* at, int count, int8_t* lanes) const;

 private:
  const ScanCodec& codec_;
  int first_lanes_;
  int word_lanes_;
  int sign_value_;  // c
};

}  // namespace polarquant
