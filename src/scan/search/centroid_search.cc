// SPDX-License-Identifier: MIT
// With m the centroids' mean and R a rotation, after which no coordinate is much larger than the
// others: ⟨q,c⟩ = ⟨q,m⟩ + β⟨m,c−m⟩ + ⟨R(q−βm), R(c−m)⟩ and ‖q−c‖² = ‖q−m‖² + ‖c−m‖² − 2⟨R(q−m),
// R(c−m)⟩, where only the last product uses rounded coordinates.
#include "src/scan/search/centroid_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "src/core/parallel.h"
#include "src/core/status.h"
#include "src/scan/kernels/dense/query_tile_dots.h"
#include "src/scan/kernels/dense/similarities.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/search/byte_queries.h"
#include "src/scan/search/leading_axes.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/top_k.h"
#include "src/simd/exact_sums.h"
#include "src/simd/simd_codec_kernels.h"

namespace polarquant {
namespace {

/// Queries that query_tile_dots takes together.
constexpr int64_t kChunkQueries = kChunkRows;
/// Queries that show whether bounds leave few enough candidates, as they should for three in four.
constexpr int64_t kTriedQueries = 1024;
/// Tiles of vectors of a task when threads share few queries.
constexpr int64_t kTaskTiles = 64;

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
  const ExactSums sums = simd_exact_sums();
  if (metric != Metric::l2) return sums.dot_float(q, c, dim);
  thread_local AlignedVector<float> difference;
  difference.resize(static_cast<size_t>(dim));
  sums.subtract_multiple(q, 1, c, dim, difference.data());
  return sums.dot_float(difference.data(), difference.data(), dim);
}

}  // namespace

struct CentroidSearch::Reduced {
  Reduced(const NearestPlan& plan, int64_t count, int dim, const float* residuals)
      : axes(count, dim, residuals, plan.numbers), vectors(count, plan.numbers, kMaxSmallValue) {}

  bool pays() const { return asked < kTriedQueries || 4 * undecided <= asked; }

  LeadingAxes axes;
  ByteVectors vectors;
  // Queries so far, and those whose bounds left too many candidates.
  mutable std::atomic<int64_t> asked = 0;
  mutable std::atomic<int64_t> undecided = 0;
};

CentroidSearch::CentroidSearch(int64_t count, int dim, Metric metric, const float* centroids)
    : centroids_(centroids),
      count_(count),
      codec_(codec_of_centre(dim, metric, mean_of(count, dim, centroids))),
      nearest_plan_(plan_nearest(ScanMachine::here(), count, dim)),
      vectors_(count, dim) {
  codec_.use_kernels(simd_codec_kernels());
  AlignedVector<float> v(static_cast<size_t>(dim));
  for (int64_t list = 0; list < count; ++list) {
    const float constant = take_residual(list, v.data());
    vectors_.set(list, v.data(), constant);
  }
}

CentroidSearch::~CentroidSearch() = default;

size_t CentroidSearch::memory_bytes() const {
  size_t bytes = codec_.memory_bytes() + vectors_.memory_bytes();
  if (const auto reduced = reduced_.made())
    bytes += reduced->axes.memory_bytes() + reduced->vectors.memory_bytes();
  return bytes;
}

// v := R(c−m); returns the vector's constant.
float CentroidSearch::take_residual(int64_t list, float* v) const {
  const int dim = codec_.dim();
  const float* mean = codec_.centre().data();
  const auto dot = simd_exact_sums().dot_exact;
  for (int j = 0; j < dim; ++j) v[j] = centroids_[list * dim + j] - mean[j];
  const double norm2 = dot(v, v, dim);
  require(std::isfinite(static_cast<float>(norm2)), StatusCode::bad_argument,
          "centroids: number {} is too long: its square is no float", list);
  const double constant = codec_.metric() == Metric::l2 ? -norm2 : dot(mean, v, dim);
  codec_.rotation().apply(v);
  return static_cast<float>(constant);
}

// Null where they do not pay.
std::shared_ptr<const CentroidSearch::Reduced> CentroidSearch::reduced(
    const CentroidRequest& request) const {
  if (request.nprobe != 1 || request.among != nullptr || nearest_plan_.numbers == 0) return nullptr;
  const auto make = [this] {
    const auto dim = static_cast<size_t>(codec_.dim());
    std::vector<float> residuals(static_cast<size_t>(count_) * dim);
    std::vector<float> constants;
    for (int64_t list = 0; list < count_; ++list)
      constants.push_back(take_residual(list, &residuals[static_cast<size_t>(list) * dim]));
    auto made = std::make_unique<Reduced>(nearest_plan_, count_, codec_.dim(), residuals.data());
    std::vector<float> numbers(static_cast<size_t>(nearest_plan_.numbers));
    for (int64_t list = 0; list < count_; ++list) {
      made->axes.reduce(1, &residuals[static_cast<size_t>(list) * dim], numbers.data());
      made->vectors.set(list, numbers.data(), constants[static_cast<size_t>(list)]);
    }
    return made;
  };
  auto made = reduced_.get(request.nq, nearest_plan_.after_queries, make);
  return made != nullptr && made->pays() ? made : nullptr;
}

// By numbers in the place of their coordinates where `axes` is not null.
void CentroidSearch::prepare(int64_t nq, const float* queries, const LeadingAxes* axes,
                             ByteQueries* to) const {
  const bool l2 = codec_.metric() == Metric::l2;
  const std::vector<PreparedQuery> prepared = codec_.prepare_queries(nq, queries);
  AlignedVector<float> numbers;
  if (axes != nullptr) {
    AlignedVector<float> rotated;
    for (const PreparedQuery& query : prepared)
      rotated.insert(rotated.end(), query.rotated.begin(), query.rotated.end());
    numbers.resize(static_cast<size_t>(nq * axes->size()));
    axes->reduce(nq, rotated.data(), numbers.data());
  }
  to->begin(nq);
  for (int64_t i = 0; i < nq; ++i) {
    const PreparedQuery& query = prepared[static_cast<size_t>(i)];
    const float* q = axes != nullptr ? numbers.data() + i * axes->size() : query.rotated.data();
    to->put(i, q, l2 ? -query.offset : query.offset, l2 ? 1 : query.bias_weight, l2 ? 2 : 1);
  }
}

void CentroidSearch::similarities(int64_t nq, const float* queries, float* out) const {
  ByteQueries chunk(vectors_);
  for (int64_t first = 0; first < nq; first += kChunkQueries) {
    const int64_t count = std::min(kChunkQueries, nq - first);
    prepare(count, queries + first * codec_.dim(), nullptr, &chunk);
    chunk.score();
    for (int64_t query = 0; query < count; ++query, out += count_)
      std::copy_n(chunk.similarities(query).data(), count_, out);
  }
}

void CentroidSearch::fetch_centroid(int64_t list) const {
  const int dim = codec_.dim();
  fetch(reinterpret_cast<const uint8_t*>(centroids_ + list * dim),
        static_cast<size_t>(dim) * sizeof(float));
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
    if (i + 1 < found.size()) fetch_centroid(found[i + 1]);
    const float score = exact_score(codec_.metric(), q, centroids_ + found[i] * dim, dim);
    candidates.emplace_back(key_of_score(score, codec_.higher_is_nearer()), found[i]);
  }
  write_top_k(candidates, request.nprobe, codec_.higher_is_nearer(),
              scores + query * request.nprobe, lists + query * request.nprobe);
}

// Bounds are at least the similarities, less the margin. False where they do not leave few
// candidates.
bool CentroidSearch::choose_nearest(const float* q, std::span<const float> bounds, float margin,
                                    float* score, int64_t* list) const {
  thread_local std::vector<int64_t> found;
  const int dim = codec_.dim();
  const auto key_of = [&](int64_t candidate) {
    const float exact = exact_score(codec_.metric(), q, centroids_ + candidate * dim, dim);
    return key_of_score(exact, codec_.higher_is_nearer());
  };
  const float most = range_of_floats(bounds.data(), count_).most;
  if (!std::isfinite(most)) return false;
  find_not_below(most, bounds.data(), count_, &found);
  const int64_t first = found[0];
  int64_t nearest = first;
  float nearest_key = key_of(nearest);
  find_not_below(-nearest_key - margin, bounds.data(), count_, &found);
  if (std::ssize(found) > nearest_plan_.most_candidates) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + 1 < found.size()) fetch_centroid(found[i + 1]);
    const int64_t candidate = found[i];
    if (candidate == first || bounds[static_cast<size_t>(candidate)] < -nearest_key - margin)
      continue;
    const float key = key_of(candidate);
    if (key > nearest_key || (key == nearest_key && candidate > nearest)) continue;
    nearest = candidate;
    nearest_key = key;
  }
  *score = score_of_key(nearest_key, codec_.higher_is_nearer());
  *list = nearest;
  return std::isfinite(nearest_key);
}

void CentroidSearch::search(const CentroidRequest& request, float* scores, int64_t* lists) const {
  if (const auto some = reduced(request)) {
    search_reduced(request, *some, scores, lists);
  } else {
    search_all(request, scores, lists);
  }
}

void CentroidSearch::search_reduced(const CentroidRequest& request, const Reduced& reduced,
                                    float* scores, int64_t* lists) const {
  const int dim = codec_.dim();
  const int64_t tasks = div_up(request.nq, kChunkQueries);
  const int threads = thread_count(request.threads, tasks);
  std::vector<ByteQueries> chunks(static_cast<size_t>(threads), ByteQueries(reduced.vectors));
  parallel_for(tasks, threads, [&](int64_t task, int thread) {
    ByteQueries& chunk = chunks[static_cast<size_t>(thread)];
    const int64_t first = task * kChunkQueries;
    const int64_t count = std::min(kChunkQueries, request.nq - first);
    prepare(count, request.queries + first * dim, &reduced.axes, &chunk);
    chunk.score();
    std::vector<int64_t> undecided;
    for (int64_t query = first; query < first + count; ++query) {
      // Half of a margin between two: the other one's score is exact.
      const ByteQuery& rounded = chunk.query(query - first);
      const double error_bound = std::fabs(rounded.factor) * reduced.axes.error_bound() *
                                 rounded.norm * reduced.vectors.largest_norm();
      const float margin = reduced.vectors.margin(rounded) / 2 + static_cast<float>(error_bound);
      if (!choose_nearest(request.queries + query * dim, chunk.similarities(query - first), margin,
                          scores + query, lists + query)) {
        undecided.push_back(query);
      }
    }
    reduced.asked += count;
    reduced.undecided += std::ssize(undecided);
    if (undecided.empty()) return;
    AlignedVector<float> queries;
    for (const int64_t query : undecided)
      queries.insert(queries.end(), request.queries + query * dim,
                     request.queries + (query + 1) * dim);
    std::vector<float> found_scores(undecided.size());
    std::vector<int64_t> found_lists(undecided.size());
    search_all({std::ssize(undecided), queries.data(), 1, 1}, found_scores.data(),
               found_lists.data());
    for (size_t i = 0; i < undecided.size(); ++i) {
      scores[undecided[i]] = found_scores[i];
      lists[undecided[i]] = found_lists[i];
    }
  });
}

void CentroidSearch::search_all(const CentroidRequest& request, float* scores,
                                int64_t* lists) const {
  const int dim = codec_.dim();
  const int64_t nq = request.nq;
  const int64_t tiles = vectors_.tiles();
  const int threads = thread_count(request.threads, std::max(nq, div_up(tiles, kTaskTiles)));
  const auto choose_of = [&](int64_t first, int64_t query, const ByteQueries& chunk) {
    choose(request, first + query, chunk.similarities(query), vectors_.margin(chunk.query(query)),
           scores, lists);
  };
  const CentroidPlan plan = plan_centroids(nq, count_, threads);
  if (plan.by_centroids) {
    ByteQueries chunk(vectors_);
    prepare(nq, request.queries, nullptr, &chunk);
    parallel_for(div_up(tiles, kTaskTiles), threads, [&](int64_t task, int) {
      const int64_t end = std::min(tiles, (task + 1) * kTaskTiles);
      for (int64_t query = 0; query < nq; ++query) chunk.score_one(query, task * kTaskTiles, end);
    });
    parallel_for(nq, threads, [&](int64_t query, int) { choose_of(0, query, chunk); });
    return;
  }
  const int64_t chunk_queries = plan.chunk_queries;
  std::vector<ByteQueries> chunks(static_cast<size_t>(threads), ByteQueries(vectors_));
  parallel_for(div_up(nq, chunk_queries), threads, [&](int64_t task, int thread) {
    ByteQueries& chunk = chunks[static_cast<size_t>(thread)];
    const int64_t first = task * chunk_queries;
    prepare(std::min(chunk_queries, nq - first), request.queries + first * dim, nullptr, &chunk);
    chunk.score();
    for (int64_t query = 0; query < chunk.count(); ++query) choose_of(first, query, chunk);
  });
}

}  // namespace polarquant
