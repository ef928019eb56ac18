// SPDX-License-Identifier: MIT
// Vectors rounded to bytes, which tell by their dot products which few of them can be a query's
// best: floats then say it of these. Vectors and queries are to be rotated, so that no coordinate
// is much larger than the others.
//
// The similarity of vector v, higher is nearer: base + weight·constant_v + factor·⟨q, v⟩, all but
// constant_v of the query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/dense/query_tile_dots.h"

namespace polarquant {

/// A query for vectors of bytes, whose values stand elsewhere.
struct ByteQuery {
  float base = 0;
  float weight = 1;
  float factor = 1;
  float step = 0;  // of the values
  double norm = 0;
};

class ByteVectors {
 public:
  /// count ≥ 1 of dim ≥ 1, zeros at first. Values, and those of queries, are up to largest_value:
  /// products of many queries take less time by kMaxSmallValue.
  ByteVectors(int64_t count, int dim, int largest_value = 127);

  int64_t count() const { return count_; }
  int padded_dim() const { return padded_dim_; }
  /// Of the longest vector.
  double largest_norm() const { return largest_norm_; }
  /// Vectors lie in tiles of 16, as queries of a dense scan do.
  int64_t tiles() const { return query_tiles_of(count_); }
  const int8_t* tile(int64_t number) const {
    return values_.data() + number * padded_dim_ * kTileQueries;
  }
  /// Similarities of one query, those of all tiles.
  size_t similarities() const { return steps_.size(); }
  /// query_tile_dots of queries' values with some tiles.
  void multiply(const int8_t* values, int64_t first_tile, int tiles, int32_t* dots) const;
  size_t memory_bytes() const {
    return values_.capacity() + (steps_.capacity() + constants_.capacity()) * sizeof(float);
  }

  /// v: (dim), finite.
  void set(int64_t number, const float* v, float constant);

  /// Rounds q, (dim), to values, (padded_dim), zeros before.
  ByteQuery round_query(const float* q, float base, float weight, float factor,
                        int8_t* values) const;
  /// Within so much two vectors may be in the wrong order: rounding errors are within five standard
  /// deviations.
  float margin(const ByteQuery& query) const;
  /// similarity[i] for the vectors i of the tiles.
  void score(const ByteQuery& query, const int8_t* values, int64_t first_tile, int64_t end_tile,
             float* similarity) const;
  /// The same for some tiles from the dots of each, (16), which begin `stride` numbers apart.
  void set_similarities(const ByteQuery& query, int64_t first_tile, int64_t tiles,
                        const int32_t* dots, int64_t stride, float* similarity) const;
  /// Finds those of (count) similarities that may be among the `wanted` ≤ count best: few more, and
  /// in any case enough; rising.
  static void find_candidates(std::span<const float> similarity, float margin, int64_t wanted,
                              std::vector<int64_t>* found);

 private:
  int64_t count_;
  int dim_;
  int padded_dim_;
  int largest_value_;
  // Whole tiles.
  AlignedVector<int8_t> values_;
  AlignedVector<float> steps_;
  AlignedVector<float> constants_;
  double largest_norm_ = 0;
  double largest_constant_ = 0;
  float largest_step_ = 0;
};

}  // namespace polarquant
