// SPDX-License-Identifier: MIT
// With m the centroids' mean and R a rotation, after which no coordinate is much larger than the
// others: ⟨q,c⟩ = ⟨q,m⟩ + β⟨m,c−m⟩ + ⟨R(q−βm), R(c−m)⟩ and ‖q−c‖² = ‖q−m‖² + ‖c−m‖² − 2⟨R(q−m),
// R(c−m)⟩, where only the last product uses rounded coordinates.
#include "src/scan/search/centroid_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "src/core/checked_size.h"
#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/top_k.h"
#include "src/simd/exact_sums.h"
#include "src/simd/round_to_int8.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// Standard deviations of the rounding error by which a centroid may be wrong.
constexpr double kMargin = 5;
/// The rounding of float sums, as a share of their terms.
constexpr double kFloatRounding = 1e-6;
/// Queries that query_tile_dots takes together.
constexpr int64_t kChunkQueries = kChunkRows;
/// Query tiles of a task when threads share few queries.
constexpr int64_t kTaskQueryTiles = 64;

std::vector<float> mean_of(int64_t count, int dim, const float* centroids) {
  std::vector<double> sum(static_cast<size_t>(dim));
  for (int64_t i = 0; i < count; ++i)
    for (int j = 0; j < dim; ++j) sum[static_cast<size_t>(j)] += centroids[i * dim + j];
  std::vector<float> mean(sum.size());
  for (const double each : sum)
    require(std::isfinite(each), StatusCode::bad_argument, "centroids: not all numbers are finite");
  std::transform(sum.begin(), sum.end(), mean.begin(), [count](double value) {
    return static_cast<float>(value / static_cast<double>(count));
  });
  return mean;
}

Codec codec_of_centre(int dim, Metric metric, const std::vector<float>& mean) {
  CodecOptions options;
  options.centre = mean;
  return {parse_spec("Polar8"), dim, metric, options};
}

float exact_score(Metric metric, const float* q, const float* c, int dim) {
  const auto dot = simd_exact_sums().dot_float;
  if (metric != Metric::l2) return dot(q, c, dim);
  thread_local AlignedVector<float> difference;
  difference.resize(static_cast<size_t>(dim));
  for (int j = 0; j < dim; ++j) difference[static_cast<size_t>(j)] = q[j] - c[j];
  return dot(difference.data(), difference.data(), dim);
}

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
  found->resize(static_cast<size_t>(count));
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    (*found)[static_cast<size_t>(kept)] = i;
    kept += values[i] < least ? 0 : 1;
  }
  found->resize(static_cast<size_t>(kept));
}

}  // namespace

struct CentroidSearch::Chunk {
  int64_t queries = 0;
  AlignedVector<int8_t> values;     // (queries, or a whole chunk, padded_dim)
  std::vector<float> bases;         // (queries)
  std::vector<float> weights;       // (queries)
  std::vector<float> units;         // (queries): value·value × step × unit is the product
  std::vector<float> margins;       // (queries): within this two centroids may be in wrong order
  AlignedVector<float> similarity;  // (queries, whole query_tiles)
  AlignedVector<int32_t> dots;
};

CentroidSearch::CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids)
    : centroids_(centroids),
      count_(count),
      codec_(codec_of_centre(dim, metric, mean_of(count, dim, centroids))),
      padded_dim_(segments_of(dim) * kSegmentDims) {
  codec_.use_kernels(simd_codec_kernels());
  const auto capacity = static_cast<size_t>(query_tiles_of(count) * kTileQueries);
  values_.resize(
      checked_mul(static_cast<int64_t>(capacity), padded_dim_, "centroids x padded dim"));
  steps_.resize(capacity);
  constants_.resize(capacity);
  AlignedVector<float> v(static_cast<size_t>(dim));
  AlignedVector<int8_t> values(static_cast<size_t>(padded_dim_));
  const float* mean = codec_.centre().data();
  const auto dot = simd_exact_sums().dot_exact;
  for (int64_t list = 0; list < count; ++list) {
    for (int j = 0; j < dim; ++j) v[static_cast<size_t>(j)] = centroids[list * dim + j] - mean[j];
    const double norm2 = dot(v.data(), v.data(), dim);
    const double constant = metric == Metric::l2 ? -norm2 : dot(mean, v.data(), dim);
    const auto at = static_cast<size_t>(list);
    constants_[at] = static_cast<float>(constant);
    require(std::isfinite(static_cast<float>(norm2)), StatusCode::bad_argument,
            "centroids: number {} is too long: its square is no float", list);
    largest_norm_ = std::max(largest_norm_, std::sqrt(norm2));
    largest_constant_ = std::max(largest_constant_, std::fabs(constant));
    codec_.rotation().apply(v.data());
    steps_[at] = round_to_step(v.data(), dim, values.data());
    largest_step_ = std::max(largest_step_, steps_[at]);
    put_in_query_tile(values.data(), padded_dim_, static_cast<int>(list % kTileQueries),
                      values_.data() + list / kTileQueries * padded_dim_ * kTileQueries);
  }
}

size_t CentroidSearch::memory_bytes() const {
  return codec_.memory_bytes() + values_.capacity() +
         (steps_.capacity() + constants_.capacity()) * sizeof(float);
}

void CentroidSearch::prepare(int64_t nq, const float* queries, Chunk* chunk) const {
  const int dim = codec_.dim();
  const bool l2 = codec_.metric() == Metric::l2;
  chunk->queries = nq;
  // Products take a whole chunk. With more threads than that, more queries come together.
  const int64_t rows = multiplies_chunk(nq) ? std::max<int64_t>(kChunkQueries, nq) : nq;
  chunk->values.assign(static_cast<size_t>(rows * padded_dim_), 0);
  chunk->bases.clear();
  chunk->weights.clear();
  chunk->units.clear();
  chunk->margins.clear();
  chunk->similarity.resize(static_cast<size_t>(nq) * steps_.size());
  for (int64_t i = 0; i < nq; ++i) {
    const PreparedQuery query = codec_.prepare_query(queries + i * dim);
    const float step = round_to_step(query.rotated.data(), dim, &chunk->values[i * padded_dim_]);
    chunk->bases.push_back(l2 ? -query.offset : query.offset);
    chunk->weights.push_back(l2 ? 1 : query.bias_weight);
    chunk->units.push_back(l2 ? 2 * step : step);
    chunk->margins.push_back(margin_of(query, step));
  }
}

// A coordinate's rounding error is uniform over a step, so that its variance is a twelfth of the
// step's square: the error of ⟨x,y⟩ has ‖x‖² times the variance of y's coordinates, and vice versa.
float CentroidSearch::margin_of(const PreparedQuery& query, float query_step) const {
  const float* x = query.rotated.data();
  const double norm = std::sqrt(simd_exact_sums().dot_exact(x, x, codec_.dim()));
  const double factor = codec_.metric() == Metric::l2 ? 2 : 1;
  const double deviation =
      factor * std::hypot(norm * largest_step_, largest_norm_ * query_step) / std::sqrt(12.0);
  const double sizes = std::fabs(query.offset) + std::fabs(query.bias_weight) * largest_constant_ +
                       factor * norm * largest_norm_;
  return static_cast<float>(2 * (kMargin * deviation + kFloatRounding * sizes));
}

void CentroidSearch::set_similarity(int64_t query, int64_t query_tile, const int32_t* dots,
                                    Chunk* chunk) const {
  const auto first = static_cast<size_t>(query_tile * kTileQueries);
  const auto at = static_cast<size_t>(query);
  const float base = chunk->bases[at];
  const float weight = chunk->weights[at];
  const float unit = chunk->units[at];
  const float* constants = &constants_[first];
  const float* steps = &steps_[first];
  float* similarity = &chunk->similarity[at * steps_.size() + first];
  for (int slot = 0; slot < kTileQueries; ++slot) {
    similarity[slot] =
        base + weight * constants[slot] + unit * (steps[slot] * static_cast<float>(dots[slot]));
  }
}

void CentroidSearch::score_one(int64_t query, int64_t first_query_tile, int64_t end_query_tile,
                               Chunk* chunk) const {
  alignas(64) int32_t dots[kTaskQueryTiles * kTileQueries];
  for (int64_t query_tile = first_query_tile; query_tile < end_query_tile;
       query_tile += kTaskQueryTiles) {
    const int64_t count = std::min(kTaskQueryTiles, end_query_tile - query_tile);
    row_query_tile_dots(&chunk->values[static_cast<size_t>(query * padded_dim_)], padded_dim_,
                        &values_[static_cast<size_t>(query_tile * padded_dim_ * kTileQueries)],
                        static_cast<int>(count), dots);
    for (int64_t i = 0; i < count; ++i)
      set_similarity(query, query_tile + i, dots + i * kTileQueries, chunk);
  }
}

void CentroidSearch::score_query_tiles(int64_t first_query_tile, int64_t end_query_tile,
                                       Chunk* chunk) const {
  if (!multiplies_chunk(chunk->queries)) {
    for (int64_t query = 0; query < chunk->queries; ++query)
      score_one(query, first_query_tile, end_query_tile, chunk);
    return;
  }
  const QueryTileSession session;
  const int together = query_tiles_together();
  chunk->dots.resize(static_cast<size_t>(together) * kTileQueries * kChunkRows);
  for (int64_t query_tile = first_query_tile; query_tile < end_query_tile; query_tile += together) {
    const int count = static_cast<int>(std::min<int64_t>(together, end_query_tile - query_tile));
    query_tile_dots(chunk->values.data(), padded_dim_,
                    &values_[static_cast<size_t>(query_tile * padded_dim_ * kTileQueries)], count,
                    chunk->dots.data());
    for (int p = 0; p < count; ++p) {
      for (int64_t query = 0; query < chunk->queries; ++query) {
        set_similarity(query, query_tile + p,
                       &chunk->dots[static_cast<size_t>((p * kChunkRows + query) * kTileQueries)],
                       chunk);
      }
    }
  }
}

// Finds those that may be among the nearest by their similarity: few more, and in any case enough.
void CentroidSearch::find_candidates(const float* similarity, float margin, int64_t wanted,
                                     std::vector<int64_t>* found) const {
  float least = -std::numeric_limits<float>::infinity();
  if (wanted < count_) least = nearly_highest(similarity, count_, wanted) - margin;
  find_not_below(least, similarity, count_, found);
  // Where one value is far from all others, most are in few buckets.
  if (std::ssize(*found) <= 4 * wanted || wanted == count_) return;
  std::vector<float> sorted;
  for (const int64_t i : *found) {
    const float value = similarity[i];
    sorted.push_back(std::isnan(value) ? std::numeric_limits<float>::infinity() : value);
  }
  std::nth_element(sorted.begin(), sorted.begin() + wanted - 1, sorted.end(), std::greater<>());
  least = std::max(least, sorted[static_cast<size_t>(wanted - 1)] - margin);
  find_not_below(least, similarity, count_, found);
}

// The best by similarity are ordered by their exact scores.
void CentroidSearch::choose(const float* query, const float* similarity, float margin,
                            int64_t nprobe, float* scores, int64_t* lists) const {
  thread_local std::vector<int64_t> found;
  thread_local std::vector<Neighbor> candidates;
  const int dim = codec_.dim();
  const auto row_bytes = static_cast<size_t>(dim) * sizeof(float);
  const auto fetch_row = [&](int64_t list) {
    fetch(reinterpret_cast<const uint8_t*>(centroids_ + list * dim), row_bytes);
  };
  find_candidates(similarity, margin, std::min(nprobe, count_), &found);
  candidates.clear();
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + 1 < found.size()) fetch_row(found[i + 1]);
    const float score = exact_score(codec_.metric(), query, centroids_ + found[i] * dim, dim);
    candidates.emplace_back(key_of_score(score, codec_.higher_is_nearer()), found[i]);
  }
  write_top_k(candidates, nprobe, codec_.higher_is_nearer(), scores, lists);
}

void CentroidSearch::search(int64_t nq, const float* queries, int64_t nprobe, int threads,
                            float* scores, int64_t* lists) const {
  const int dim = codec_.dim();
  const int64_t query_tiles = query_tiles_of(count_);
  threads = thread_count(threads, std::max(nq, div_up(query_tiles, kTaskQueryTiles)));
  const auto choose_of = [&](int64_t first, int64_t query, const Chunk& chunk) {
    choose(queries + (first + query) * dim,
           &chunk.similarity[static_cast<size_t>(query) * steps_.size()],
           chunk.margins[static_cast<size_t>(query)], nprobe, scores + (first + query) * nprobe,
           lists + (first + query) * nprobe);
  };
  const CentroidPlan plan = plan_centroids(nq, count_, threads);
  if (plan.by_centroids) {
    Chunk chunk;
    prepare(nq, queries, &chunk);
    parallel_for(div_up(query_tiles, kTaskQueryTiles), threads, [&](int64_t task, int) {
      const int64_t end = std::min(query_tiles, (task + 1) * kTaskQueryTiles);
      for (int64_t query = 0; query < nq; ++query)
        score_one(query, task * kTaskQueryTiles, end, &chunk);
    });
    parallel_for(nq, threads, [&](int64_t query, int) { choose_of(0, query, chunk); });
    return;
  }
  const int64_t chunk_queries = plan.chunk_queries;
  const int64_t tasks = div_up(nq, chunk_queries);
  std::vector<Chunk> chunks(static_cast<size_t>(threads));
  parallel_for(tasks, threads, [&](int64_t task, int thread) {
    Chunk& chunk = chunks[static_cast<size_t>(thread)];
    const int64_t first = task * chunk_queries;
    prepare(std::min(chunk_queries, nq - first), queries + first * dim, &chunk);
    score_query_tiles(0, query_tiles, &chunk);
    for (int64_t query = 0; query < chunk.queries; ++query) choose_of(first, query, chunk);
  });
}

}  // namespace polarquant
