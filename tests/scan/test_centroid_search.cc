// SPDX-License-Identifier: MIT
// The coarse search against sorting all centroids by their floats.
#include "src/scan/search/centroid_search.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "src/codec/dot.h"
#include "tests/scan/every_target.h"
#include "tests/scan/scan_rows.h"

namespace polarquant::test {
namespace {

struct Nearest {
  std::vector<float> scores;
  std::vector<int64_t> lists;

  Nearest(int64_t nq, int64_t nprobe)
      : scores(static_cast<size_t>(nq * nprobe), 77.0F), lists(scores.size(), 77) {}
  /// A query's lists without their order.
  std::vector<int64_t> set_of(int64_t query, int64_t nprobe) const {
    std::vector<int64_t> set(lists.begin() + query * nprobe, lists.begin() + (query + 1) * nprobe);
    std::sort(set.begin(), set.end());
    return set;
  }
};

double exact_score(Metric metric, const float* q, const float* c, int dim) {
  double sum = 0;
  for (int j = 0; j < dim; ++j)
    sum +=
        metric == Metric::l2 ? (double{q[j]} - c[j]) * (double{q[j]} - c[j]) : double{q[j]} * c[j];
  return sum;
}

Nearest sorted(Metric metric, int64_t nq, const float* queries, int64_t count,
               const float* centroids, int dim, int64_t nprobe) {
  Nearest nearest(nq, nprobe);
  for (int64_t q = 0; q < nq; ++q) {
    std::vector<std::pair<double, int64_t>> all;
    for (int64_t list = 0; list < count; ++list) {
      const double score = exact_score(metric, queries + q * dim, centroids + list * dim, dim);
      all.emplace_back(metric == Metric::l2 ? score : -score, list);
    }
    std::sort(all.begin(), all.end());
    all.resize(static_cast<size_t>(nprobe), {std::numeric_limits<double>::infinity(), -1});
    for (int64_t i = 0; i < nprobe; ++i) {
      const auto& [key, list] = all[static_cast<size_t>(i)];
      nearest.scores[static_cast<size_t>(q * nprobe + i)] =
          static_cast<float>(metric == Metric::l2 ? key : -key);
      nearest.lists[static_cast<size_t>(q * nprobe + i)] = list;
    }
  }
  return nearest;
}

TEST_CASE("the coarse search finds the lists that exact scores find", "[scan][lists]") {
  const auto [dim, count] = GENERATE(std::pair{384, int64_t{1024}}, std::pair{100, int64_t{333}},
                                     std::pair{3, int64_t{50}}, std::pair{1, int64_t{2}});
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2);
  constexpr int64_t kQueries = 2000;
  const std::vector<float> centroids = normal_numbers(count * dim, 41);
  const std::vector<float> queries = normal_numbers(kQueries * dim, 42);
  const CentroidSearch search(count, dim, metric, centroids.data());
  REQUIRE(search.count() == count);
  int64_t others = 0;
  int64_t searched = 0;
  for (const int64_t nprobe : {int64_t{1}, int64_t{8}, count / 3 + 1, count + 3}) {
    Nearest found(kQueries, nprobe);
    search.search({kQueries, queries.data(), nprobe, 1}, found.scores.data(), found.lists.data());
    const Nearest expected =
        sorted(metric, kQueries, queries.data(), count, centroids.data(), dim, nprobe);
    for (int64_t q = 0; q < kQueries; ++q, ++searched) {
      if (found.set_of(q, nprobe) != expected.set_of(q, nprobe)) ++others;
      for (int64_t i = 0; i < nprobe; ++i) {
        const auto at = static_cast<size_t>(q * nprobe + i);
        if (found.lists[at] < 0) {
          REQUIRE(i >= count);
          continue;
        }
        const double score =
            exact_score(metric, &queries[static_cast<size_t>(q * dim)],
                        &centroids[static_cast<size_t>(found.lists[at] * dim)], dim);
        REQUIRE(found.scores[at] == Approx(score).margin(1e-4 * dim));
        if (i > 0 && i < count)
          REQUIRE((metric == Metric::l2 ? found.scores[at] >= found.scores[at - 1]
                                        : found.scores[at] <= found.scores[at - 1]));
      }
    }
  }
  // Random centroids are the hardest: nothing else is so much alike.
  INFO(others << " of " << searched << " queries");
  REQUIRE(others == 0);
}

TEST_CASE("the coarse search finds the nearest of some lists", "[scan][lists]") {
  constexpr int kDim = 24;
  constexpr int64_t kCount = 90;
  constexpr int64_t kQueries = 30;
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    const std::vector<float> centroids = normal_numbers(kCount * kDim, 43);
    const std::vector<float> queries = normal_numbers(kQueries * kDim, 44);
    const CentroidSearch search(kCount, kDim, metric, centroids.data());
    Nearest all(kQueries, kCount);
    search.search({kQueries, queries.data(), kCount, 1}, all.scores.data(), all.lists.data());
    for (const int32_t divisor : {1, 7, 100}) {
      std::vector<int32_t> among;
      for (int32_t list = divisor / 2; list < kCount; list += divisor) among.push_back(list);
      Nearest found(kQueries, 8);
      search.search({kQueries, queries.data(), 8, 1, &among}, found.scores.data(),
                    found.lists.data());
      for (int64_t q = 0; q < kQueries; ++q) {
        std::vector<int64_t> expected;
        for (int64_t i = q * kCount; i < (q + 1) * kCount; ++i) {
          const int64_t list = all.lists[static_cast<size_t>(i)];
          if (std::find(among.begin(), among.end(), list) != among.end()) expected.push_back(list);
        }
        expected.resize(8, -1);
        const auto first = found.lists.begin() + q * 8;
        CHECK(std::vector<int64_t>(first, first + 8) == expected);
      }
    }
  }
}

TEST_CASE("the coarse search is the same for one query, many and all threads", "[scan][lists]") {
  constexpr int kDim = 96;
  constexpr int64_t kCount = 300;
  constexpr int64_t kQueries = 40;
  constexpr int64_t kProbes = 10;
  const std::vector<float> centroids = normal_numbers(kCount * kDim, 43);
  const std::vector<float> queries = normal_numbers(kQueries * kDim, 44);
  const CentroidSearch search(kCount, kDim, Metric::l2, centroids.data());
  Nearest expected(kQueries, kProbes);
  search.search({kQueries, queries.data(), kProbes, 1}, expected.scores.data(),
                expected.lists.data());
  on_every_target([&] {
    for (const int64_t together : {int64_t{1}, int64_t{7}, kQueries}) {
      for (const int threads : {1, 3}) {
        Nearest found(kQueries, kProbes);
        for (int64_t q = 0; q < kQueries; q += together) {
          const int64_t count = std::min(together, kQueries - q);
          search.search({count, &queries[static_cast<size_t>(q * kDim)], kProbes, threads},
                        &found.scores[static_cast<size_t>(q * kProbes)],
                        &found.lists[static_cast<size_t>(q * kProbes)]);
        }
        REQUIRE(found.lists == expected.lists);
        REQUIRE(found.scores == expected.scores);
      }
    }
  });
}

// More queries than a chunk has come together where there are more threads still.
TEST_CASE("the coarse search takes fewer queries than threads, and more than a chunk",
          "[scan][lists]") {
  constexpr int kDim = 24;
  constexpr int64_t kCount = 90;
  constexpr int64_t kQueries = 77;
  constexpr int64_t kProbes = 5;
  const std::vector<float> centroids = normal_numbers(kCount * kDim, 43);
  const std::vector<float> queries = normal_numbers(kQueries * kDim, 44);
  const CentroidSearch search(kCount, kDim, Metric::inner_product, centroids.data());
  Nearest alone(kQueries, kProbes);
  Nearest together(kQueries, kProbes);
  search.search({kQueries, queries.data(), kProbes, 1}, alone.scores.data(), alone.lists.data());
  search.search({kQueries, queries.data(), kProbes, 100}, together.scores.data(),
                together.lists.data());
  CHECK(together.lists == alone.lists);
  CHECK(together.scores == alone.scores);
}

TEST_CASE("the coarse search takes centroids of any lengths", "[scan][lists]") {
  constexpr int kDim = 24;
  constexpr int64_t kCount = 1100;
  constexpr int64_t kProbes = 9;
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2);
  std::vector<float> centroids = normal_numbers(kCount * kDim, 46);
  const std::vector<float> query = normal_numbers(kDim, 47);
  SECTION("all equal, to the query's fellow") {
    for (size_t i = kDim; i < centroids.size(); ++i) centroids[i] = centroids[i - kDim];
  }
  SECTION("all 0") { std::fill(centroids.begin(), centroids.end(), 0.0F); }
  SECTION("one is far from all others, on either side") {
    const float away = GENERATE(-1e6F, 1e6F);
    for (int j = 0; j < kDim; ++j)
      centroids[static_cast<size_t>(j)] = away * query[static_cast<size_t>(j)];
  }
  SECTION("so long that scores are no floats") {
    for (float& value : centroids) value *= 1e18F;
    centroids[5] = -3e18F;
  }
  const CentroidSearch search(kCount, kDim, metric, centroids.data());
  Nearest found(1, kProbes);
  search.search({1, query.data(), kProbes, 1}, found.scores.data(), found.lists.data());
  const Nearest expected = sorted(metric, 1, query.data(), kCount, centroids.data(), kDim, kProbes);
  CHECK(found.set_of(0, kProbes) == expected.set_of(0, kProbes));
}

// Fewer numbers bound the scores of these first (leading_axes.h).
TEST_CASE("the coarse search finds the one nearest of many queries", "[scan][lists]") {
  constexpr int kDim = 128;
  constexpr int64_t kCount = 2048;
  constexpr int64_t kQueries = 500;
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2);
  std::vector<float> centroids = rows_near_axes(kCount, kDim, 30, 1, 41);
  std::vector<float> queries = rows_near_axes(kQueries, kDim, 30, 1, 42);
  SECTION("near few axes") {}
  SECTION("off the origin") {
    for (float& value : centroids) value += 5;
    for (float& value : queries) value += 5;
  }
  SECTION("bounds leave too many") {
    centroids = normal_numbers(kCount * kDim, 43);
    queries = normal_numbers(kQueries * kDim, 44);
  }
  SECTION("some are equal") {
    std::copy_n(centroids.begin(), kCount / 2 * kDim, centroids.begin() + kCount / 2 * kDim);
  }
  const Nearest expected =
      sorted(metric, kQueries, queries.data(), kCount, centroids.data(), kDim, 1);
  on_every_target([&] {
    const NearestPlan plan = plan_nearest(ScanMachine::here(), kCount, kDim);
    const CentroidSearch search(kCount, kDim, metric, centroids.data());
    const size_t before = search.memory_bytes();
    std::vector<float> many;
    while (std::ssize(many) <= plan.after_queries * kDim)
      many.insert(many.end(), queries.begin(), queries.end());
    for (const auto& [nq, threads] :
         {std::pair{int64_t{std::ssize(many)} / kDim, 3}, std::pair{int64_t{1}, 1},
          std::pair{int64_t{19}, 1}, std::pair{int64_t{65}, 3}}) {
      Nearest found(nq + 1, 1);
      search.search({nq, many.data(), 1, threads}, found.scores.data(), found.lists.data());
      for (size_t q = 0; q < static_cast<size_t>(nq); ++q) {
        REQUIRE(found.lists[q] == expected.lists[q % kQueries]);
        REQUIRE(found.scores[q] == Approx(expected.scores[q % kQueries]).margin(1e-4 * kDim));
      }
      REQUIRE(found.lists.back() == 77);
    }
    CHECK((search.memory_bytes() > before) == (plan.numbers > 0));
  });
}

TEST_CASE("the coarse search finds the one nearest where scores are no floats", "[scan][lists]") {
  constexpr int kDim = 128;
  constexpr int64_t kCount = 2048;
  constexpr int64_t kAlone = 100;
  std::vector<float> centroids = rows_near_axes(kCount, kDim, 30, 1, 41);
  for (float& value : centroids) value *= 1e17F;
  const CentroidSearch search(kCount, kDim, Metric::l2, centroids.data());
  const int64_t queries =
      std::max(kAlone, plan_nearest(ScanMachine::here(), kCount, kDim).after_queries);
  const std::vector<float> x = rows_near_axes(queries, kDim, 30, 1, 42);
  Nearest alone(kAlone, 1);
  search.search({kAlone, x.data(), 1, 1}, alone.scores.data(), alone.lists.data());
  Nearest found(queries, 1);
  search.search({queries, x.data(), 1, 2}, found.scores.data(), found.lists.data());
  CHECK(std::equal(alone.lists.begin(), alone.lists.end(), found.lists.begin()));
}

TEST_CASE("centroids that are no numbers are refused", "[scan][lists]") {
  std::vector<float> centroids = normal_numbers(20 * 8, 45);
  centroids[13] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_THROWS_AS(CentroidSearch(20, 8, Metric::l2, centroids.data()), Error);
  centroids[13] = 3e30F;
  REQUIRE_THROWS_AS(CentroidSearch(20, 8, Metric::l2, centroids.data()), Error);
}

}  // namespace
}  // namespace polarquant::test
