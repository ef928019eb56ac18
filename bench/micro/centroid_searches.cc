// SPDX-License-Identifier: MIT
// The coarse search on the best target, one thread: 4,096 queries for the one nearest of 4,096
// centroids, by fewer numbers where these pay, and for the two nearest, which takes all
// coordinates.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bench/micro/micro.h"
#include "src/scan/search/centroid_search.h"

namespace polarquant::micro {
namespace {

constexpr int kDims[] = {384, 768};
constexpr int64_t kCentroids = 4096;
constexpr int64_t kQueries = 4096;

/// Coordinates' variances fall as those of embeddings along their axes do: half of the coordinates
/// have three quarters of the length.
std::vector<float> falling_numbers(int64_t n, int dim, uint64_t seed) {
  std::vector<float> numbers = normal_numbers(n * dim, seed);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto coordinate = static_cast<double>(i % static_cast<size_t>(dim));
    numbers[i] *= static_cast<float>(1 / std::sqrt(1 + 12 * coordinate / dim));
  }
  return numbers;
}

void search_centroids(benchmark::State& state, int64_t nprobe, int dim) {
  const std::vector<float> centroids = falling_numbers(kCentroids, dim, 1);
  // As far from its centroid as this is from the origin.
  std::vector<float> queries = falling_numbers(kQueries, dim, 2);
  for (size_t i = 0; i < queries.size(); ++i) queries[i] += centroids[i];
  const CentroidSearch search(kCentroids, dim, Metric::l2, centroids.data());
  std::vector<float> scores(static_cast<size_t>(kQueries * nprobe));
  std::vector<int64_t> lists(scores.size());
  const auto run = [&] {
    search.search({kQueries, queries.data(), nprobe, 1}, scores.data(), lists.data());
  };
  // What is made after many queries is made before.
  for (int i = 0; i < 5; ++i) run();
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(lists.data());
  }
  state.counters["queries/s"] = benchmark::Counter(static_cast<double>(kQueries),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

void register_centroid_searches() {
  const std::string target = hwy::TargetName(targets().front());
  for (const int64_t nprobe : {1, 2}) {
    for (const int dim : kDims) {
      benchmark::RegisterBenchmark(
          row_name("centroids/" + std::to_string(nprobe), target, dim).c_str(),
          [=](benchmark::State& state) { search_centroids(state, nprobe, dim); });
    }
  }
}

}  // namespace polarquant::micro
