// SPDX-License-Identifier: MIT
// Queries rounded for vectors of bytes (byte_vectors.h), and their similarities to these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/search/byte_vectors.h"

namespace polarquant {

/// For one thread, but for score_one. Memory is kept from one use to the next.
class ByteQueries {
 public:
  /// Borrows the vectors.
  explicit ByteQueries(const ByteVectors& vectors) : vectors_(vectors) {}

  /// Makes place for nq queries, which are all to be put.
  void begin(int64_t nq);
  int64_t count() const { return std::ssize(queries_); }
  /// ByteVectors::round_query.
  void put(int64_t query, const float* q, float base, float weight, float factor);

  /// Scores all queries by all vectors.
  void score();
  /// Scores one query by the vectors of some tiles. Several threads may score tiles of their own.
  void score_one(int64_t query, int64_t first_tile, int64_t end_tile);

  /// (vectors' count): those of a query that was scored.
  std::span<const float> similarities(int64_t query) const;
  const ByteQuery& query(int64_t query) const { return queries_[static_cast<size_t>(query)]; }

 private:
  int8_t* values_of(int64_t query) { return values_.data() + query * vectors_.padded_dim(); }
  float* similarities_of(int64_t query) {
    return similarities_.data() + static_cast<size_t>(query) * vectors_.similarities();
  }

  const ByteVectors& vectors_;
  std::vector<ByteQuery> queries_;
  AlignedVector<int8_t> values_;       // (queries, or a whole chunk, padded_dim)
  AlignedVector<float> similarities_;  // (queries, whole tiles)
  AlignedVector<int32_t> dots_;
};

}  // namespace polarquant
