// SPDX-License-Identifier: MIT
#include "src/scan/search/byte_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "src/core/checked_size.h"
#include "src/scan/kernels/dense/similarities.h"
#include "src/scan/model/scan_codec.h"
#include "src/simd/exact_sums.h"
#include "src/simd/round_to_int8.h"

namespace polarquant {
namespace {

/// Standard deviations of the rounding error by which a vector may be wrong.
constexpr double kMargin = 5;
/// The rounding of float sums, as a share of their terms.
constexpr double kFloatRounding = 1e-6;
/// Tiles whose dots are in memory together.
constexpr int64_t kTilesTogether = 64;

/// The `wanted`-th highest of (count) values, or a little less: values are counted in buckets of
/// equal width. −inf where values are not finite.
float nearly_highest(const float* values, int64_t count, int64_t wanted) {
  constexpr int kBuckets = 512;
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const FloatRange range = range_of_floats(values, count);
  if (wanted == 1) return std::isfinite(range.most) ? range.most : kNone;
  const float width = range.most - range.least;
  const float per_width = (kBuckets - 1) / width;
  if (!(width > 0 && std::isfinite(width) && std::isfinite(per_width))) return kNone;
  std::array<int32_t, kBuckets> sizes = {};
  for (int64_t i = 0; i < count; ++i) {
    const float place = (range.most - values[i]) * per_width;
    // NaN counts as the highest.
    ++sizes[place >= 0 && place < kBuckets ? static_cast<size_t>(place) : 0];
  }
  int last = 0;
  for (int64_t sum = sizes[0]; sum < wanted; sum += sizes[static_cast<size_t>(last)]) ++last;
  // Rounded, a value may lie a little below its bucket.
  return range.most - (static_cast<float>(last) + 1.01F) / per_width;
}

}  // namespace

ByteVectors::ByteVectors(int64_t count, int dim, int largest_value)
    : count_(count),
      dim_(dim),
      padded_dim_(segments_of(dim) * kSegmentDims),
      largest_value_(largest_value) {
  const auto capacity = static_cast<size_t>(query_tiles_of(count) * kTileQueries);
  values_.resize(checked_mul(static_cast<int64_t>(capacity), padded_dim_, "vectors x padded dim"));
  steps_.resize(capacity);
  constants_.resize(capacity);
}

void ByteVectors::set(int64_t number, const float* v, float constant) {
  AlignedVector<int8_t> values(static_cast<size_t>(padded_dim_));
  const auto at = static_cast<size_t>(number);
  constants_[at] = constant;
  steps_[at] = round_to_step(v, dim_, largest_value_, values.data());
  largest_norm_ =
      std::max(largest_norm_, std::sqrt(double{simd_exact_sums().dot_exact(v, v, dim_)}));
  largest_constant_ = std::max(largest_constant_, std::fabs(double{constant}));
  largest_step_ = std::max(largest_step_, steps_[at]);
  put_in_query_tile(values.data(), padded_dim_, static_cast<int>(number % kTileQueries),
                    values_.data() + number / kTileQueries * padded_dim_ * kTileQueries);
}

ByteQuery ByteVectors::round_query(const float* q, float base, float weight, float factor,
                                   int8_t* values) const {
  return {base, weight, factor, round_to_step(q, dim_, largest_value_, values),
          std::sqrt(double{simd_exact_sums().dot_exact(q, q, dim_)})};
}

// A coordinate's rounding error is uniform over a step, so that its variance is a twelfth of the
// step's square: the error of ⟨x,y⟩ has ‖x‖² times the variance of y's coordinates, and vice versa.
float ByteVectors::margin(const ByteQuery& query) const {
  const double factor = std::fabs(query.factor);
  // No square of these is too large for a double; std::hypot would need glibc 2.35.
  const double vector_share = query.norm * largest_step_;
  const double query_share = largest_norm_ * query.step;
  const double deviation =
      factor * std::sqrt((vector_share * vector_share + query_share * query_share) / 12.0);
  const double sizes = std::fabs(query.base) + std::fabs(query.weight) * largest_constant_ +
                       factor * query.norm * largest_norm_;
  return static_cast<float>(2 * (kMargin * deviation + kFloatRounding * sizes));
}

void ByteVectors::multiply(const int8_t* values, int64_t first_tile, int tiles,
                           int32_t* dots) const {
  const auto product =
      largest_value_ <= kMaxSmallValue ? query_tile_dots_of_small : query_tile_dots;
  product(values, padded_dim_, tile(first_tile), tiles, dots);
}

void ByteVectors::set_similarities(const ByteQuery& query, int64_t first_tile, int64_t tiles,
                                   const int32_t* dots, int64_t stride, float* similarity) const {
  const auto first = static_cast<size_t>(first_tile * kTileQueries);
  const SimilarityTerms terms = {query.base, query.weight, query.factor * query.step,
                                 &constants_[first], &steps_[first]};
  similarities_of_dots(terms, dots, stride, tiles, similarity + first);
}

void ByteVectors::score(const ByteQuery& query, const int8_t* values, int64_t first_tile,
                        int64_t end_tile, float* similarity) const {
  alignas(64) int32_t dots[kTilesTogether * kTileQueries];
  for (int64_t at = first_tile; at < end_tile; at += kTilesTogether) {
    const int64_t count = std::min(kTilesTogether, end_tile - at);
    row_query_tile_dots(values, padded_dim_, tile(at), static_cast<int>(count), dots);
    set_similarities(query, at, count, dots, kTileQueries, similarity);
  }
}

void ByteVectors::find_candidates(std::span<const float> similarity, float margin, int64_t wanted,
                                  std::vector<int64_t>* found) {
  const int64_t count = std::ssize(similarity);
  float least = -std::numeric_limits<float>::infinity();
  if (wanted < count) least = nearly_highest(similarity.data(), count, wanted) - margin;
  find_not_below(least, similarity.data(), count, found);
  // Where one value is far from all others, most are in few buckets.
  if (std::ssize(*found) <= 4 * wanted || wanted == count) return;
  std::vector<float> sorted;
  for (const int64_t i : *found) {
    const float value = similarity[static_cast<size_t>(i)];
    sorted.push_back(std::isnan(value) ? std::numeric_limits<float>::infinity() : value);
  }
  std::nth_element(sorted.begin(), sorted.begin() + wanted - 1, sorted.end(), std::greater<>());
  least = std::max(least, sorted[static_cast<size_t>(wanted - 1)] - margin);
  find_not_below(least, similarity.data(), count, found);
}

}  // namespace polarquant
