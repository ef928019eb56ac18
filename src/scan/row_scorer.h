// SPDX-License-Identifier: MIT
// Scores of rows in any order, as graph searches ask for them: a query, or a row, against rows here
// and there.
//
// Scores are estimates in the codec's metric: inner product, or squared distance. Of codes with
// integer levels in single rows (single_row_store.h) they are scores by levels, the same on every
// machine and within make_score_slack() of Codec::score; of others Codec::score itself.
#pragma once

#include <cstdint>
#include <memory>

#include "src/codec/codec.h"

namespace polarquant {

class RowStore;

/// One thread's.
class RowScorer {
 public:
  virtual ~RowScorer() = default;

  /// q: (dim), finite.
  virtual void set_query(const float* q) = 0;
  /// scores[i] of the query and rows[i].
  virtual void score(const int32_t* rows, int count, float* scores) = 0;
  /// Codec::score of the query and the row.
  virtual float exact_score(int64_t row) = 0;
  /// Of two rows; symmetric.
  virtual float score_rows(int64_t a, int64_t b) = 0;
  /// Begins to bring a row near.
  virtual void fetch(int64_t /*row*/) const {}
};

/// By decoding rows to floats: of any store. Both are borrowed.
std::unique_ptr<RowScorer> make_float_scorer(const Codec& codec, const RowStore& rows);

}  // namespace polarquant
