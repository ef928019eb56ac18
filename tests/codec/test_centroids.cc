// SPDX-License-Identifier: MIT
// The nearest of many centroids, and how training finds them.
#include "src/codec/centroids.h"

#include <cmath>
#include <functional>
#include <vector>

#include "src/codec/codec_kernels.h"
#include "src/core/work_progress.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

std::vector<int32_t> nearest_of(const std::vector<float>& centroids, int dim,
                                const std::vector<float>& x, int threads = 1) {
  const auto n = static_cast<int64_t>(x.size()) / dim;
  std::vector<int32_t> nearest(static_cast<size_t>(n), -7);
  plain_centroid_finder(static_cast<int64_t>(centroids.size()) / dim, dim, centroids.data())
      ->find(n, x.data(), threads, nearest.data());
  return nearest;
}

std::vector<float> trained(const std::vector<float>& x, int dim, int count, uint64_t seed = 1) {
  return train_centroids(static_cast<int64_t>(x.size()) / dim, dim, x.data(), count, seed,
                         CodecKernels());
}

/// Rows whose clusters, row % clusters, lie far from each other.
std::vector<float> separated_rows(int64_t n, int dim, int clusters) {
  const std::vector<float> centres = gaussian_rows(clusters, dim, 3);
  std::vector<float> rows = gaussian_rows(n, dim, 4);
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = i / static_cast<size_t>(dim);
    const size_t cluster = row % static_cast<size_t>(clusters);
    rows[i] = 100 * centres[cluster * static_cast<size_t>(dim) + i % static_cast<size_t>(dim)] +
              .1F * rows[i];
  }
  return rows;
}

/// The means of rows that have one number, rounded to floats.
std::vector<float> means_of(const std::vector<float>& x, int dim,
                            const std::vector<int32_t>& numbers, int count) {
  const auto width = static_cast<size_t>(dim);
  std::vector<double> sums(static_cast<size_t>(count) * width);
  std::vector<double> members(static_cast<size_t>(count));
  for (size_t row = 0; row < numbers.size(); ++row) {
    const auto number = static_cast<size_t>(numbers[row]);
    ++members[number];
    for (size_t j = 0; j < width; ++j) sums[number * width + j] += x[row * width + j];
  }
  std::vector<float> means;
  for (size_t i = 0; i < sums.size(); ++i)
    means.push_back(static_cast<float>(sums[i] / members[i / width]));
  return means;
}

}  // namespace

TEST_CASE("the nearest centroid is that of the least squared distance", "[centroids]") {
  for (const int dim : {1, 3, 40}) {
    for (const int count : {1, 2, 30}) {
      CAPTURE(dim, count);
      const std::vector<float> centroids = gaussian_rows(count, dim, 1);
      const std::vector<float> x = gaussian_rows(100, dim, 2);
      const std::vector<int32_t> nearest = nearest_of(centroids, dim, x);
      for (size_t row = 0; row < nearest.size(); ++row) {
        const auto distance_to = [&](int number) {
          double sum = 0;
          for (int j = 0; j < dim; ++j)
            sum += std::pow(double{x[row * static_cast<size_t>(dim) + static_cast<size_t>(j)]} -
                                centroids[static_cast<size_t>(number * dim + j)],
                            2);
          return sum;
        };
        REQUIRE(nearest[row] >= 0);
        REQUIRE(nearest[row] < count);
        for (int number = 0; number < count; ++number)
          REQUIRE(distance_to(nearest[row]) <= distance_to(number) * (1 + 1e-5));
      }
      CHECK(nearest_of(centroids, dim, x, 2) == nearest);
    }
  }
  CHECK(nearest_of({1, 2}, 2, {}).empty());
}

TEST_CASE("of centroids as near as each other the first is taken", "[centroids]") {
  CHECK(nearest_of({3, 1, 1, -1}, 1, {0, 1, 2, -5}) == std::vector<int32_t>{1, 1, 0, 3});
  const std::vector<float> rows = gaussian_rows(7, 16, 1);
  std::vector<float> twice = rows;
  twice.insert(twice.end(), rows.begin(), rows.end());
  CHECK(nearest_of(twice, 16, rows) == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("two clusters far from each other have their means as centroids", "[centroids]") {
  for (const int dim : {1, 2, 33}) {
    const std::vector<float> rows = separated_rows(200, dim, 2);
    std::vector<int32_t> clusters;
    for (int row = 0; row < 200; ++row) clusters.push_back(row % 2);
    const std::vector<float> means = means_of(rows, dim, clusters, 2);
    for (const uint64_t seed : {1, 2, 3, 4, 5}) {
      CAPTURE(dim, seed);
      const std::vector<float> centroids = trained(rows, dim, 2, seed);
      REQUIRE(centroids.size() == static_cast<size_t>(2 * dim));
      // Which of them comes first is the seed's.
      const int32_t first = nearest_of(means, dim, centroids)[0];
      for (int32_t i = 0; i < 2; ++i) {
        for (int j = 0; j < dim; ++j)
          CHECK(centroids[static_cast<size_t>(i * dim + j)] ==
                means[static_cast<size_t>((i ^ first) * dim + j)]);
      }
    }
  }
}

TEST_CASE("a trained centroid is the mean of the rows nearest to it", "[centroids]") {
  constexpr int kDim = 12;
  constexpr int kCount = 9;
  const std::vector<float> rows = separated_rows(450, kDim, kCount);
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const std::vector<float> centroids = trained(rows, kDim, kCount, seed);
    const std::vector<int32_t> nearest = nearest_of(centroids, kDim, rows);
    CHECK(centroids == means_of(rows, kDim, nearest, kCount));
    CHECK(trained(rows, kDim, kCount, seed) == centroids);
  }
  CHECK(trained(rows, kDim, kCount, 1) != trained(rows, kDim, kCount, 2));
}

TEST_CASE("more centroids than distinct rows are copies of these", "[centroids]") {
  constexpr int kDim = 5;
  for (const int distinct : {1, 3}) {
    const std::vector<float> values = gaussian_rows(distinct, kDim, 7);
    std::vector<float> rows;
    for (int row = 0; row < 60; ++row) {
      const auto from = values.begin() + row % distinct * kDim;
      rows.insert(rows.end(), from, from + kDim);
    }
    const std::vector<float> centroids = trained(rows, kDim, 20);
    REQUIRE(centroids.size() == 20 * kDim);
    // Sums of equal rows are theirs to the last bit but one.
    for (const float* row = rows.data(); row < rows.data() + distinct * kDim; row += kDim) {
      const std::vector<float> x(row, row + kDim);
      const auto at = static_cast<size_t>(nearest_of(centroids, kDim, x)[0]) * kDim;
      for (size_t j = 0; j < kDim; ++j) CHECK(centroids[at + j] == Approx(x[j]).epsilon(1e-6));
    }
    for (size_t i = 0; i < centroids.size(); i += kDim) {
      const std::vector<float> centroid(&centroids[i], &centroids[i] + kDim);
      const auto at = static_cast<size_t>(nearest_of(values, kDim, centroid)[0]) * kDim;
      for (size_t j = 0; j < kDim; ++j) CHECK(centroid[j] == Approx(values[at + j]).epsilon(1e-6));
    }
  }
}

TEST_CASE("too few rows for the centroids are refused", "[centroids]") {
  const std::vector<float> rows = gaussian_rows(40, 3, 1);
  CHECK(trained(rows, 3, 20).size() == 60);
  require_error(StatusCode::bad_argument,
                "40 of the training rows are left to find 21 centroids from; at least 42 are "
                "needed, and 210 or more do well",
                [&] { trained(rows, 3, 21); });
}

TEST_CASE("a search for centroids can be stopped", "[centroids]") {
  const std::vector<float> rows = gaussian_rows(400, 8, 1);
  const std::function<bool(double)> stop = [](double) { return false; };
  const WorkProgress progress(stop, "train");
  require_error(StatusCode::cancelled, "train", [&] { trained(rows, 8, 16); });
}

TEST_CASE("centroids know their lengths", "[centroids]") {
  const Centroids centroids(2, {3, 4, 0, 0, -1, 0});
  CHECK(centroids.count() == 3);
  CHECK(centroids.dim() == 2);
  CHECK(centroids.norm2(0) == 25);
  CHECK(centroids.norm2(1) == 0);
  CHECK(centroids.row(2)[0] == -1);
  CHECK(centroids.most_norm2() == 25);
}
