// SPDX-License-Identifier: MIT
// Split stages as one vector of values with one step: a product of matrices then gives scores of
// both stages at once, within a margin.
//
// A score is s·(d_A·Σ_A value·value + d_B·Σ_B value·value) and a part without code, d the stages'
// dot scales. With u the larger of them, p_j = value·d/u of the query rounded, and e_j the
// rounding's remainder,
//
//   d_A·Σ_A + d_B·Σ_B = u·(Σ p_j·value + Σ e_j·value) ≤ u·(Σ p_j·value + ‖e‖·‖values of the row‖).
//
// A query's values of B are worth less than A's, so that they become small. The margin lets about a
// quarter more rows pass than reach by their own scores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_query.h"

namespace polarquant {

class OneStepVectors {
 public:
  /// The factor of a query's products, u, and what is added for each unit of a row's length in
  /// values: u·‖e‖ and the most that roundings of float sums change.
  struct Scales {
    float dot_scale = 0;
    float margin = 0;
  };

  /// For a codec of split stages.
  explicit OneStepVectors(const ScanCodec& codec);

  /// A multiple of 64: without the segments after the last one that has bits.
  int padded_dim() const { return first_dims_ + second_dims_; }

  /// Writes a query's values.
  Scales put_query(const ScanQuery& query, int8_t* values) const;
  /// Writes the values of `count` rows, up to kBlockRows, one after the other.
  void put_rows(const RowPlace* at, int count, int8_t* values) const;

 private:
  const ScanCodec& codec_;
  int first_dims_;
  int second_dims_;
};

}  // namespace polarquant
