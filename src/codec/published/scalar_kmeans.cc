// SPDX-License-Identifier: MIT
#include "src/codec/published/scalar_kmeans.h"

#include <algorithm>
#include <limits>

#include "src/core/random.h"

namespace polarquant {
namespace {

constexpr int kSeedings = 4;
constexpr int kMaxIterations = 300;

/// Sorted values with Σ values and Σ values² of every prefix.
struct SortedValues {
  std::vector<double> values;
  std::vector<double> sums = {0};
  std::vector<double> squares = {0};

  explicit SortedValues(std::vector<double> unsorted) : values(std::move(unsorted)) {
    std::sort(values.begin(), values.end());
    for (const double value : values) {
      sums.push_back(sums.back() + value);
      squares.push_back(squares.back() + value * value);
    }
  }
};

/// k-means++: each next seed is a value drawn with probability ∝ its squared distance to the seeds.
/// Stops early when every value is a seed.
std::vector<double> draw_seeds(const std::vector<double>& values, int count, Random& random) {
  std::vector<double> seeds = {values[random.below(values.size())]};
  std::vector<double> distances(values.size(), std::numeric_limits<double>::infinity());
  while (seeds.size() < static_cast<size_t>(count)) {
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double difference = values[i] - seeds.back();
      distances[i] = std::min(distances[i], difference * difference);
      total += distances[i];
    }
    if (!(total > 0)) break;
    double left = random.uniform() * total;
    size_t chosen = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (distances[i] == 0) continue;
      chosen = i;
      left -= distances[i];
      if (left < 0) break;
    }
    seeds.push_back(values[chosen]);
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

/// Where the cluster of each centroid begins in the sorted values, and their number at the end.
std::vector<size_t> cluster_starts(const std::vector<double>& values,
                                   const std::vector<double>& centroids) {
  std::vector<size_t> starts = {0};
  for (size_t i = 1; i < centroids.size(); ++i) {
    const double boundary = (centroids[i - 1] + centroids[i]) / 2;
    const auto first = std::lower_bound(values.begin(), values.end(), boundary);
    starts.push_back(static_cast<size_t>(first - values.begin()));
  }
  starts.push_back(values.size());
  return starts;
}

/// Lloyd's iteration until the clusters stay; returns the total squared error.
double settle(const SortedValues& sorted, std::vector<double>& centroids) {
  std::vector<size_t> starts = cluster_starts(sorted.values, centroids);
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    for (size_t i = 0; i < centroids.size(); ++i) {
      const size_t size = starts[i + 1] - starts[i];
      if (size == 0) continue;  // keeps its place between its neighbours
      const double mean =
          (sorted.sums[starts[i + 1]] - sorted.sums[starts[i]]) / static_cast<double>(size);
      // Differences of long sums round; the mean of a cluster lies inside it.
      centroids[i] = std::clamp(mean, sorted.values[starts[i]], sorted.values[starts[i + 1] - 1]);
    }
    std::vector<size_t> next_starts = cluster_starts(sorted.values, centroids);
    if (next_starts == starts) break;
    starts = std::move(next_starts);
  }
  double error = 0;
  for (size_t i = 0; i < centroids.size(); ++i) {
    const double sum = sorted.sums[starts[i + 1]] - sorted.sums[starts[i]];
    const double square = sorted.squares[starts[i + 1]] - sorted.squares[starts[i]];
    const auto size = static_cast<double>(starts[i + 1] - starts[i]);
    error += square - centroids[i] * (2 * sum - centroids[i] * size);
  }
  return error;
}

}  // namespace

std::vector<double> scalar_kmeans(std::vector<double> values, int count, uint64_t seed) {
  const SortedValues sorted(std::move(values));
  Random random(seed);
  std::vector<double> best;
  double least_error = std::numeric_limits<double>::infinity();
  for (int seeding = 0; seeding < kSeedings; ++seeding) {
    std::vector<double> centroids = draw_seeds(sorted.values, count, random);
    const double error = settle(sorted, centroids);
    if (best.empty() || error < least_error) {
      least_error = error;
      best = std::move(centroids);
    }
  }
  best.resize(static_cast<size_t>(count), best.back());
  return best;
}

}  // namespace polarquant
