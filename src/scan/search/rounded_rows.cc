// SPDX-License-Identifier: MIT
#include "src/scan/search/rounded_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/simd/exact_sums.h"
#include "src/simd/round_to_int8.h"

namespace polarquant {
namespace {

/// More than roundings can take from a length.
constexpr float kLonger = 1.001F;

/// The most that float operations change a sum of dim products (dot.h: 16 partial sums) and the few
/// operations around it, as a share of the lengths' product: at least twice the worst case.
float float_rounding(int dim) { return 1.2e-7F * (static_cast<float>(dim) / 16 + 64); }

int padded_dim_of(int dim) { return (dim + 63) / 64 * 64; }

struct Rounded {
  float step = 0;
  float rounding = 0;  // at most ‖x−x̂‖
  float norm = 0;      // of x
};

/// Rounds x to values; with `negate`, −x.
Rounded round_to_bytes(const float* x, int dim, bool negate, int8_t* values) {
  Rounded result;
  // In double: squares of small floats would be 0, and the bound wrong.
  result.norm = static_cast<float>(std::sqrt(simd_exact_sums().dot_exact(x, x, dim))) * kLonger;
  result.step = round_to_step(x, dim, values, negate);
  if (result.step == 0) {
    result.rounding = result.norm;
    return result;
  }
  result.rounding = .5F * result.step * std::sqrt(static_cast<float>(dim)) * kLonger;
  return result;
}

}  // namespace

RoundedQueries::RoundedQueries(std::span<const PreparedQuery> queries, int dim,
                               bool higher_is_nearer)
    : queries_(queries), padded_dim_(padded_dim_of(dim)) {
  const auto query_tiles =
      static_cast<size_t>(query_tiles_of(static_cast<int64_t>(queries.size())));
  int8_values_.resize(query_tiles * static_cast<size_t>(padded_dim_) * kTileQueries);
  constants_.resize(query_tiles);
  AlignedVector<int8_t> values(static_cast<size_t>(padded_dim_));
  const float sign = higher_is_nearer ? 1.0F : -1.0F;
  for (size_t q = 0; q < queries.size(); ++q) {
    const PreparedQuery& query = queries[q];
    const Rounded rounded = round_to_bytes(query.rotated.data(), dim, false, values.data());
    const int slot = static_cast<int>(q % kTileQueries);
    put_in_query_tile(
        values.data(), padded_dim_, slot,
        int8_values_.data() + q / kTileQueries * static_cast<size_t>(padded_dim_) * kTileQueries);
    QueryTileConstants& constants = constants_[q / kTileQueries];
    constants.base[slot] = sign * query.offset;
    constants.weight[slot] = sign * query.bias_weight;
    constants.dot_scale[0][slot] = rounded.step;
    norms_.push_back(rounded.norm);
    roundings_.push_back(rounded.rounding);
  }
}

RoundedRows::RoundedRows(const Codec& codec)
    : codec_(codec),
      padded_dim_(padded_dim_of(codec.dim())),
      values_(static_cast<size_t>(padded_dim_) * kChunkRows),
      int8_values_(static_cast<size_t>(padded_dim_) * kChunkRows),
      terms_(kChunkRows),
      ids_(kChunkRows),
      scale_(kChunkRows),
      constant_(kChunkRows),
      dots_(kMaxQueryTilesTogether * kTileQueries * kChunkRows),
      thresholds_(kMaxQueryTilesTogether * kTileQueries),
      matches_(dots_.size()) {}

void RoundedRows::push(CodeRows codes, int64_t row) {
  if (size_ == 0) {
    max_rounding_ = 0;
    max_length_ = 0;
  }
  const auto slot = static_cast<size_t>(size_++);
  float* y = values_.data() + slot * static_cast<size_t>(padded_dim_);
  const RowTerms terms = codec_.decode_for_score(codes, row, y);
  const float scale = codec_.higher_is_nearer() ? terms.scale : -terms.scale;
  const Rounded rounded = round_to_bytes(
      y, codec_.dim(), scale < 0, int8_values_.data() + slot * static_cast<size_t>(padded_dim_));
  terms_[slot] = terms;
  ids_[slot] = row;
  const float magnitude = std::fabs(scale);
  scale_[slot] = magnitude * rounded.step;
  constant_[slot] = terms.constant;
  max_rounding_ = std::max(max_rounding_, magnitude * rounded.rounding);
  const float length = magnitude * (rounded.norm + rounded.rounding);
  // NaN stays: max would drop it.
  max_length_ = std::isfinite(length + terms.constant) ? std::max(max_length_, length)
                                                       : std::numeric_limits<float>::infinity();
}

// The least dot of bytes of a row as good as the worst of the best; NaN where sums may overflow.
float RoundedRows::similarity_threshold(const RoundedQueries& queries, int64_t query,
                                        float worst_key) const {
  const float norm = queries.norm(query);
  const PreparedQuery& exact = queries.query(query);
  const float constant = std::max(std::fabs(chunk_.min_constant), std::fabs(chunk_.max_constant));
  const float sizes =
      norm * max_length_ + std::fabs(exact.offset) + std::fabs(exact.bias_weight) * constant;
  if (!std::isfinite(8 * sizes)) return std::numeric_limits<float>::quiet_NaN();
  if (!std::isfinite(worst_key)) return -worst_key;
  return -worst_key - (norm * max_rounding_ + queries.rounding(query) * max_length_) -
         float_rounding(codec_.dim()) * (sizes + std::fabs(worst_key));
}

void RoundedRows::score_row(const RoundedQueries& queries, int64_t query, int row,
                            TopK* best) const {
  const auto slot = static_cast<size_t>(row);
  const PreparedQuery& exact = queries.query(query);
  const float* y = values_.data() + slot * static_cast<size_t>(padded_dim_);
  const float score = codec_.score_decoded(exact, terms_[slot], y);
  best[query].push({key_of_score(score, codec_.higher_is_nearer()), ids_[slot]});
}

void RoundedRows::score_query_tiles(const RoundedQueries& queries, int64_t first_query_tile,
                                    int count, int64_t end, TopK* best) {
  const int64_t first_query = first_query_tile * kTileQueries;
  query_tile_dots(int8_values_.data(), padded_dim_, queries.query_tile(first_query_tile), count,
                  dots_.data());
  for (int slot = 0; slot < count * kTileQueries; ++slot) {
    const int64_t query = first_query + slot;
    float& threshold = thresholds_[static_cast<size_t>(slot)];
    threshold = std::numeric_limits<float>::infinity();
    if (query >= end) continue;
    const float least = similarity_threshold(queries, query, best[query].worst_key());
    if (std::isnan(least)) {
      for (int row = 0; row < size_; ++row) score_row(queries, query, row, best);
    } else {
      threshold = least;
    }
  }
  const int matches =
      find_dense_matches(dots_.data(), nullptr, count, queries.constants(first_query_tile),
                         thresholds_.data(), chunk_, matches_.data());
  for (int i = 0; i < matches; ++i) {
    const DenseMatch& match = matches_[static_cast<size_t>(i)];
    score_row(queries, first_query + match.query, match.row, best);
  }
}

void RoundedRows::score(const RoundedQueries& queries, int64_t first, int64_t end, TopK* best) {
  for (int row = size_; row < kChunkRows; ++row) {
    scale_[static_cast<size_t>(row)] = 0;
    constant_[static_cast<size_t>(row)] = std::numeric_limits<float>::quiet_NaN();
  }
  chunk_ = make_chunk_terms(scale_.data(), constant_.data());
  const QueryTileSession session;
  const int together = query_tiles_together();
  const int64_t end_query_tile = query_tiles_of(end);
  for (int64_t query_tile = first / kTileQueries; query_tile < end_query_tile;
       query_tile += together) {
    const int count = static_cast<int>(std::min<int64_t>(together, end_query_tile - query_tile));
    score_query_tiles(queries, query_tile, count, end, best);
  }
}

}  // namespace polarquant
