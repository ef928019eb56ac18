// SPDX-License-Identifier: MIT
// Recall's arithmetic, exact neighbours against a plain loop, and the statistics of timings.
#include "bench/recall/recall.h"

#include <faiss/index_factory.h>

#include <algorithm>
#include <memory>

#include "bench/median.h"
#include "bench/recall/ground_truth.h"
#include "bench/recall/measure.h"
#include "tests/support/catch.h"

namespace polarquant::bench {
namespace {

using test::require_error;

FloatMatrix random_matrix(int64_t rows, int64_t dim, uint64_t seed) {
  FloatMatrix out{.rows = rows, .dim = dim, .values = {}, .rows_in_source = rows};
  uint64_t state = seed;
  for (int64_t i = 0; i < rows * dim; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out.values.push_back(static_cast<float>(state >> 40) * 0x1p-23F - 1.0F);
  }
  return out;
}

/// Every score in double, sorted by score and id.
std::vector<int64_t> plain_neighbours(const FloatMatrix& base, const float* q, bool l2, int64_t k) {
  std::vector<std::pair<double, int64_t>> costs;
  for (int64_t r = 0; r < base.rows; ++r) {
    double cost = 0;
    for (int64_t c = 0; c < base.dim; ++c) {
      const double x = base.row(r)[c];
      cost += l2 ? (q[c] - x) * (q[c] - x) : -q[c] * x;
    }
    costs.emplace_back(cost, r);
  }
  std::sort(costs.begin(), costs.end());
  std::vector<int64_t> out;
  for (int64_t i = 0; i < k; ++i) out.push_back(costs[static_cast<size_t>(i)].second);
  return out;
}

}  // namespace

TEST_CASE("recall counts ids found among the true ones", "[unit]") {
  const IdMatrix truth{.rows = 2, .k = 3, .values = {1, 2, 3, 7, 8, 9}, .rows_in_source = 2};
  const auto count = [&](std::vector<int64_t> result, int64_t k) {
    return count_recall(result, truth, k);
  };
  REQUIRE(count({1, 2, 3, 7, 8, 9}, 3).at_k == 1.0);
  REQUIRE(count({1, 2, 3, 7, 8, 9}, 3).at_1 == 1.0);
  // Order among the k plays no part in recall@k, but decides recall@1.
  REQUIRE(count({3, 2, 1, 7, 9, 8}, 3).at_k == 1.0);
  REQUIRE(count({3, 2, 1, 7, 9, 8}, 3).at_1 == 0.5);
  REQUIRE(count({1, 5, 6, -1, -1, -1}, 3).at_k == 1.0 / 6);
  // Only the first k true ids count.
  REQUIRE(count({1, 3, 7, 9}, 2).at_k == 0.5);
  // An id twice is one find.
  REQUIRE(count({1, 1, 1, 7, 7, 7}, 3).at_k == 2.0 / 6);
}

TEST_CASE("rows as near as the k-th count as found", "[unit]") {
  // Rows 0 to 3 are as near as each other, and so are 4 to 7, farther.
  const IdMatrix truth{.rows = 2, .k = 2, .values = {0, 1, 0, 1}, .rows_in_source = 2};
  const auto cost = [](int64_t /*query*/, int64_t row) { return static_cast<double>(row / 4); };
  Recall recall = count_recall(std::vector<int64_t>{2, 3, 3, 4}, truth, 2, cost);
  REQUIRE(recall.at_1 == 1.0);
  REQUIRE(recall.at_k == 0.75);
  recall = count_recall(std::vector<int64_t>{4, 0, -1, -1}, truth, 2, cost);
  REQUIRE(recall.at_1 == 0.0);
  REQUIRE(recall.at_k == 0.25);
}

TEST_CASE("exact search among copies has a recall of 1", "[unit]") {
  const bool l2 = GENERATE(false, true);
  const FloatMatrix some = random_matrix(20, 16, 1);
  BenchmarkData data;
  data.distance = l2 ? Distance::l2 : Distance::inner_product;
  data.query = random_matrix(25, 16, 2);
  data.base = {.rows = 2000, .dim = 16, .values = {}, .rows_in_source = 2000};
  for (int64_t i = 0; i < 2000; ++i) {
    const float* row = some.row(i * 7 % 20);
    data.base.values.insert(data.base.values.end(), row, row + 16);
  }
  data.ground_truth = exact_neighbours(data.base, data.query, l2, 10, nullptr);
  std::unique_ptr<::faiss::Index> flat(
      ::faiss::index_factory(16, "Flat", faiss_metric(data.distance)));
  flat->add(2000, data.base.values.data());
  MeasureOptions options;
  options.k = 10;
  options.repeat = 1;
  const SearchResult result = measure_search(*flat, data, options, "flat");
  REQUIRE(result.recall.at_k == 1.0);
  REQUIRE(result.recall.at_1 == 1.0);
}

TEST_CASE("recall refuses shapes that do not fit", "[unit]") {
  const IdMatrix truth{.rows = 1, .k = 2, .values = {1, 2}, .rows_in_source = 1};
  const std::vector<int64_t> three = {1, 2, 3};
  require_error(StatusCode::bad_argument, "k is 3 (allowed: 1 to 2)",
                [&] { count_recall(three, truth, 3); });
  require_error(StatusCode::bad_argument, "3 ids", [&] { count_recall(three, truth, 2); });
}

TEST_CASE("exact neighbours agree with a plain loop", "[unit]") {
  const bool l2 = GENERATE(false, true);
  const int64_t rows = GENERATE(1, 50, 3000);
  const FloatMatrix base = random_matrix(rows, 24, 1);
  const FloatMatrix query = random_matrix(30, 24, 2);
  const int64_t k = std::min<int64_t>(rows, 10);
  const IdMatrix truth = exact_neighbours(base, query, l2, k, nullptr);
  for (int64_t q = 0; q < query.rows; ++q) {
    const std::vector<int64_t> found(truth.row(q), truth.row(q) + k);
    REQUIRE(found == plain_neighbours(base, query.row(q), l2, k));
  }
}

TEST_CASE("exact neighbours span blocks, ties go to the lower id", "[unit]") {
  // More rows than one block; all equal but three.
  FloatMatrix base{.rows = 70000, .dim = 2, .values = {}, .rows_in_source = 70000};
  base.values.assign(140000, 0.25F);
  for (const int64_t row : {69999, 40000, 5}) base.row(row)[0] = 2.0F;
  const FloatMatrix query{.rows = 1, .dim = 2, .values = {1, 1}, .rows_in_source = 1};
  const IdMatrix truth = exact_neighbours(base, query, false, 5, nullptr);
  REQUIRE(truth.values == std::vector<int64_t>{5, 40000, 69999, 0, 1});
  require_error(StatusCode::bad_argument, "k is 70001",
                [&] { exact_neighbours(base, query, false, 70001, nullptr); });
}

TEST_CASE("an exact index measures recall 1", "[unit]") {
  BenchmarkData data;
  data.base = random_matrix(500, 16, 3);
  data.query = random_matrix(20, 16, 4);
  data.distance = Distance::l2;
  data.ground_truth = exact_neighbours(data.base, data.query, true, 10, nullptr);
  MeasureOptions options;
  options.one = true;
  options.repeat = 2;
  const BuiltIndex built =
      build_index(GENERATE("Flat", "IDMap,Flat", "PCAR16,IDMap,Flat"), data, options, "test");
  REQUIRE(built.index->ntotal == 500);
  const SearchResult result = measure_search(*built.index, data, options, "test");
  REQUIRE(result.recall.at_1 == 1.0);
  REQUIRE(result.recall.at_k == 1.0);
  REQUIRE(result.batch.runs_qps.size() == 2);
  REQUIRE(result.one.runs_qps.size() == 2);
  REQUIRE(result.one.queries_per_run == 20);
  REQUIRE(result.one.p50_ms <= result.one.p99_ms);
}

TEST_CASE("median and percentile", "[unit]") {
  REQUIRE(median({3}) == 3);
  REQUIRE(median({5, 1, 3}) == 3);
  REQUIRE(median({4, 1, 3, 2}) == 2.5);
  REQUIRE(percentile({1, 2, 3, 4}, 0.5) == 2);
  REQUIRE(percentile({1, 2, 3, 4}, 0.99) == 4);
  REQUIRE(percentile({1, 2, 3, 4}, 0.0) == 1);
}

}  // namespace polarquant::bench
