// SPDX-License-Identifier: MIT
// Exact scores of few rows instead of all: decoded rows and queries are rounded to bytes, whose dot
// products tell which rows can reach a query's k-th best score. For codecs that have no int8 values
// of their own.
//
// With y the decoded row, q the query, ŷ and q̂ rounded to multiples of a step each (the largest
// magnitude / 127): |⟨q,y⟩ − ⟨q̂,ŷ⟩| ≤ ‖q‖‖y−ŷ‖ + ‖q−q̂‖‖ŷ‖, and a rounding error is at most
// step·√dim/2 long. Rows that stay below the threshold by more than that are left out; the others
// are scored as Codec::score does, so that results are the same to the bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/dense/dense_matches.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// Queries as tiles of bytes, made once and shared by all threads.
class RoundedQueries {
 public:
  /// The queries are borrowed.
  RoundedQueries(std::span<const PreparedQuery> queries, int dim, bool higher_is_nearer);

  int padded_dim() const { return padded_dim_; }
  const PreparedQuery& query(int64_t i) const { return queries_[static_cast<size_t>(i)]; }
  const int8_t* query_tile(int64_t query_tile) const {
    return int8_values_.data() + query_tile * padded_dim_ * kTileQueries;
  }
  const QueryTileConstants* constants(int64_t query_tile) const {
    return constants_.data() + query_tile;
  }
  float norm(int64_t i) const { return norms_[static_cast<size_t>(i)]; }
  /// The most that the rounding error's length can be.
  float rounding(int64_t i) const { return roundings_[static_cast<size_t>(i)]; }

 private:
  std::span<const PreparedQuery> queries_;
  int padded_dim_;
  AlignedVector<int8_t> int8_values_;
  AlignedVector<QueryTileConstants> constants_;
  std::vector<float> norms_;
  std::vector<float> roundings_;
};

/// Up to kChunkRows decoded rows.
class RoundedRows {
 public:
  explicit RoundedRows(const Codec& codec);

  bool full() const { return size_ == kChunkRows; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void push(CodeRows codes, int64_t row);
  /// Brings the rows into best[q] for queries first ≤ q < end; `first` is a multiple of 16.
  void score(const RoundedQueries& queries, int64_t first, int64_t end, TopK* best);

 private:
  float similarity_threshold(const RoundedQueries& queries, int64_t query, float worst_key) const;
  void score_row(const RoundedQueries& queries, int64_t query, int row, TopK* best) const;
  void score_query_tiles(const RoundedQueries& queries, int64_t first_query_tile, int count,
                         int64_t end, TopK* best);

  const Codec& codec_;
  int padded_dim_;
  int size_ = 0;
  AlignedVector<float> values_;        // (kChunkRows, padded_dim)
  AlignedVector<int8_t> int8_values_;  // (kChunkRows, padded_dim)
  std::vector<RowTerms> terms_;
  std::vector<int64_t> ids_;
  // The rows' scale·step ≥ 0 and constants, in similarity; NaN where there is no row.
  AlignedVector<float> scale_;
  AlignedVector<float> constant_;
  ChunkTerms chunk_;
  /// The largest scale·‖y−ŷ‖ and scale·‖ŷ‖; infinite or NaN when a row's are.
  float max_rounding_ = 0;
  float max_length_ = 0;
  AlignedVector<int32_t> dots_;
  AlignedVector<float> thresholds_;
  std::vector<DenseMatch> matches_;
};

}  // namespace polarquant
