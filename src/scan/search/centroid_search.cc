// SPDX-License-Identifier: MIT
// With m the centroids' mean and R a rotation, after which no coordinate is much larger than the
// others: ⟨q,c⟩ = ⟨q,m⟩ + β⟨m,c−m⟩ + ⟨R(q−βm), R(c−m)⟩ and ‖q−c‖² = ‖q−m‖² + ‖c−m‖² − 2⟨R(q−m),
// R(c−m)⟩, where only the last product uses rounded coordinates.
#include "src/scan/search/centroid_search.h"

#include <algorithm>
#include <cmath>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/top_k.h"
#include "src/simd/exact_sums.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

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

}  // namespace

struct CentroidSearch::Chunk {
  std::vector<ByteQuery> queries;
  AlignedVector<int8_t> values;     // (queries, or a whole chunk, padded_dim)
  AlignedVector<float> similarity;  // (queries, whole tiles)
  AlignedVector<int32_t> dots;

  int64_t count() const { return std::ssize(queries); }
};

CentroidSearch::CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids)
    : centroids_(centroids),
      count_(count),
      codec_(codec_of_centre(dim, metric, mean_of(count, dim, centroids))),
      vectors_(count, dim) {
  codec_.use_kernels(simd_codec_kernels());
  AlignedVector<float> v(static_cast<size_t>(dim));
  const float* mean = codec_.centre().data();
  const auto dot = simd_exact_sums().dot_exact;
  for (int64_t list = 0; list < count; ++list) {
    for (int j = 0; j < dim; ++j) v[static_cast<size_t>(j)] = centroids[list * dim + j] - mean[j];
    const double norm2 = dot(v.data(), v.data(), dim);
    const double constant = metric == Metric::l2 ? -norm2 : dot(mean, v.data(), dim);
    require(std::isfinite(static_cast<float>(norm2)), StatusCode::bad_argument,
            "centroids: number {} is too long: its square is no float", list);
    codec_.rotation().apply(v.data());
    vectors_.set(list, v.data(), static_cast<float>(constant));
  }
}

size_t CentroidSearch::memory_bytes() const {
  return codec_.memory_bytes() + vectors_.memory_bytes();
}

void CentroidSearch::prepare(int64_t nq, const float* queries, Chunk* chunk) const {
  const int dim = codec_.dim();
  const int padded_dim = vectors_.padded_dim();
  const bool l2 = codec_.metric() == Metric::l2;
  // Products take a whole chunk. With more threads than that, more queries come together.
  const int64_t rows = multiplies_chunk(nq) ? std::max<int64_t>(kChunkQueries, nq) : nq;
  chunk->values.assign(static_cast<size_t>(rows * padded_dim), 0);
  chunk->queries.clear();
  chunk->similarity.resize(static_cast<size_t>(nq) * vectors_.similarities());
  for (int64_t i = 0; i < nq; ++i) {
    const PreparedQuery query = codec_.prepare_query(queries + i * dim);
    chunk->queries.push_back(vectors_.round_query(
        query.rotated.data(), l2 ? -query.offset : query.offset, l2 ? 1 : query.bias_weight,
        l2 ? 2 : 1, &chunk->values[static_cast<size_t>(i * padded_dim)]));
  }
}

void CentroidSearch::score_one(int64_t query, int64_t first_query_tile, int64_t end_query_tile,
                               Chunk* chunk) const {
  const auto at = static_cast<size_t>(query);
  vectors_.score(chunk->queries[at],
                 &chunk->values[at * static_cast<size_t>(vectors_.padded_dim())], first_query_tile,
                 end_query_tile, &chunk->similarity[at * vectors_.similarities()]);
}

void CentroidSearch::score_query_tiles(int64_t first_query_tile, int64_t end_query_tile,
                                       Chunk* chunk) const {
  if (!multiplies_chunk(chunk->count())) {
    for (int64_t query = 0; query < chunk->count(); ++query)
      score_one(query, first_query_tile, end_query_tile, chunk);
    return;
  }
  const QueryTileSession session;
  const int together = query_tiles_together();
  chunk->dots.resize(static_cast<size_t>(together) * kTileQueries * kChunkRows);
  for (int64_t query_tile = first_query_tile; query_tile < end_query_tile; query_tile += together) {
    const int count = static_cast<int>(std::min<int64_t>(together, end_query_tile - query_tile));
    query_tile_dots(chunk->values.data(), vectors_.padded_dim(), vectors_.tile(query_tile), count,
                    chunk->dots.data());
    for (int p = 0; p < count; ++p) {
      for (int64_t query = 0; query < chunk->count(); ++query) {
        const auto at = static_cast<size_t>(query);
        vectors_.set_similarity(
            chunk->queries[at], query_tile + p,
            &chunk->dots[static_cast<size_t>((p * kChunkRows + query) * kTileQueries)],
            &chunk->similarity[at * vectors_.similarities()]);
      }
    }
  }
}

void CentroidSearch::similarities(int64_t nq, const float* queries, float* out) const {
  Chunk chunk;
  for (int64_t first = 0; first < nq; first += kChunkQueries) {
    const int64_t count = std::min(kChunkQueries, nq - first);
    prepare(count, queries + first * codec_.dim(), &chunk);
    score_query_tiles(0, query_tiles_of(count_), &chunk);
    for (int64_t query = 0; query < count; ++query, out += count_)
      std::copy_n(&chunk.similarity[static_cast<size_t>(query) * vectors_.similarities()], count_,
                  out);
  }
}

// The best by similarity are ordered by their exact scores.
void CentroidSearch::choose(const CentroidRequest& request, int64_t query,
                            std::span<const float> similarity, float margin, float* scores,
                            int64_t* lists) const {
  thread_local std::vector<int64_t> found;
  thread_local std::vector<float> some;
  thread_local std::vector<Neighbor> candidates;
  const int dim = codec_.dim();
  const float* q = request.queries + query * dim;
  const auto row_bytes = static_cast<size_t>(dim) * sizeof(float);
  const auto fetch_row = [&](int64_t list) {
    fetch(reinterpret_cast<const uint8_t*>(centroids_ + list * dim), row_bytes);
  };
  if (request.among != nullptr) {
    some.clear();
    for (const int32_t list : *request.among) some.push_back(similarity[static_cast<size_t>(list)]);
    similarity = some;
  }
  const int64_t wanted = std::min<int64_t>(request.nprobe, std::ssize(similarity));
  if (wanted > 0) {
    ByteVectors::find_candidates(similarity, margin, wanted, &found);
  } else {
    found.clear();
  }
  if (request.among != nullptr) {
    for (int64_t& list : found) list = (*request.among)[static_cast<size_t>(list)];
  }
  candidates.clear();
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + 1 < found.size()) fetch_row(found[i + 1]);
    const float score = exact_score(codec_.metric(), q, centroids_ + found[i] * dim, dim);
    candidates.emplace_back(key_of_score(score, codec_.higher_is_nearer()), found[i]);
  }
  write_top_k(candidates, request.nprobe, codec_.higher_is_nearer(),
              scores + query * request.nprobe, lists + query * request.nprobe);
}

void CentroidSearch::search(const CentroidRequest& request, float* scores, int64_t* lists) const {
  const int dim = codec_.dim();
  const int64_t nq = request.nq;
  const int64_t query_tiles = query_tiles_of(count_);
  const int threads =
      thread_count(request.threads, std::max(nq, div_up(query_tiles, kTaskQueryTiles)));
  const auto choose_of = [&](int64_t first, int64_t query, const Chunk& chunk) {
    const std::span<const float> similarity = {
        &chunk.similarity[static_cast<size_t>(query) * vectors_.similarities()],
        static_cast<size_t>(count_)};
    choose(request, first + query, similarity,
           vectors_.margin(chunk.queries[static_cast<size_t>(query)]), scores, lists);
  };
  const CentroidPlan plan = plan_centroids(nq, count_, threads);
  if (plan.by_centroids) {
    Chunk chunk;
    prepare(nq, request.queries, &chunk);
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
    prepare(std::min(chunk_queries, nq - first), request.queries + first * dim, &chunk);
    score_query_tiles(0, query_tiles, &chunk);
    for (int64_t query = 0; query < chunk.count(); ++query) choose_of(first, query, chunk);
  });
}

}  // namespace polarquant
