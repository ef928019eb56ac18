// SPDX-License-Identifier: MIT
#include "src/scan/search/byte_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "src/core/checked_size.h"
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

struct Range {
  float least;
  float most;
};

/// The least and the greatest of (count), count ≥ 1; the compiler keeps 16 in registers.
Range range_of(const float* values, int64_t count) {
  constexpr int kTogether = 16;
  float least[kTogether];
  float most[kTogether];
  std::fill_n(least, kTogether, values[0]);
  std::fill_n(most, kTogether, values[0]);
  int64_t first = 0;
  for (; first + kTogether <= count; first += kTogether) {
    for (int i = 0; i < kTogether; ++i) {
      const float value = values[first + i];
      least[i] = value < least[i] ? value : least[i];
      most[i] = value > most[i] ? value : most[i];
    }
  }
  for (; first < count; ++first) {
    least[0] = std::min(least[0], values[first]);
    most[0] = std::max(most[0], values[first]);
  }
  return {*std::min_element(least, least + kTogether), *std::max_element(most, most + kTogether)};
}

/// The `wanted`-th highest of (count) values, or a little less: values are counted in buckets of
/// equal width. −inf where values are not finite.
float nearly_highest(const float* values, int64_t count, int64_t wanted) {
  constexpr int kBuckets = 512;
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const Range range = range_of(values, count);
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

/// Finds the numbers of those of (count) values that are not below `least`.
void find_not_below(float least, const float* values, int64_t count, std::vector<int64_t>* found) {
  // Most are below, many side by side.
  constexpr int64_t kTogether = 16;
  found->resize(static_cast<size_t>(count));
  int64_t kept = 0;
  for (int64_t first = 0; first < count; first += kTogether) {
    const int64_t end = std::min(count, first + kTogether);
    int below = 0;
    if (end - first == kTogether)
      for (int64_t i = 0; i < kTogether; ++i) below += values[first + i] < least ? 1 : 0;
    if (below == kTogether) continue;
    for (int64_t i = first; i < end; ++i) {
      (*found)[static_cast<size_t>(kept)] = i;
      kept += values[i] < least ? 0 : 1;
    }
  }
  found->resize(static_cast<size_t>(kept));
}

}  // namespace

ByteVectors::ByteVectors(int64_t count, int dim)
    : count_(count), dim_(dim), padded_dim_(segments_of(dim) * kSegmentDims) {
  const auto capacity = static_cast<size_t>(query_tiles_of(count) * kTileQueries);
  values_.resize(checked_mul(static_cast<int64_t>(capacity), padded_dim_, "vectors x padded dim"));
  steps_.resize(capacity);
  constants_.resize(capacity);
}

void ByteVectors::set(int64_t number, const float* v, float constant) {
  AlignedVector<int8_t> values(static_cast<size_t>(padded_dim_));
  const auto at = static_cast<size_t>(number);
  constants_[at] = constant;
  steps_[at] = round_to_step(v, dim_, values.data());
  largest_norm_ =
      std::max(largest_norm_, std::sqrt(double{simd_exact_sums().dot_exact(v, v, dim_)}));
  largest_constant_ = std::max(largest_constant_, std::fabs(double{constant}));
  largest_step_ = std::max(largest_step_, steps_[at]);
  put_in_query_tile(values.data(), padded_dim_, static_cast<int>(number % kTileQueries),
                    values_.data() + number / kTileQueries * padded_dim_ * kTileQueries);
}

ByteQuery ByteVectors::round_query(const float* q, float base, float weight, float factor,
                                   int8_t* values) const {
  return {base, weight, factor, round_to_step(q, dim_, values),
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

void ByteVectors::set_similarity(const ByteQuery& query, int64_t tile, const int32_t* dots,
                                 float* similarity) const {
  const auto first = static_cast<size_t>(tile * kTileQueries);
  const float base = query.base;
  const float weight = query.weight;
  const float unit = query.factor * query.step;
  const float* constants = &constants_[first];
  const float* steps = &steps_[first];
  float* __restrict out = similarity + first;
  for (int slot = 0; slot < kTileQueries; ++slot)
    out[slot] =
        base + weight * constants[slot] + unit * (steps[slot] * static_cast<float>(dots[slot]));
}

void ByteVectors::score(const ByteQuery& query, const int8_t* values, int64_t first_tile,
                        int64_t end_tile, float* similarity) const {
  alignas(64) int32_t dots[kTilesTogether * kTileQueries];
  for (int64_t at = first_tile; at < end_tile; at += kTilesTogether) {
    const int64_t count = std::min(kTilesTogether, end_tile - at);
    row_query_tile_dots(values, padded_dim_, tile(at), static_cast<int>(count), dots);
    for (int64_t i = 0; i < count; ++i)
      set_similarity(query, at + i, dots + i * kTileQueries, similarity);
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
