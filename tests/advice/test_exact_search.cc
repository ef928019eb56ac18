// SPDX-License-Identifier: MIT
// Exact neighbours of floats, and what recall counts.
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "src/advice/exact_search.h"
#include "src/advice/recall.h"
#include "tests/scan/scan_rows.h"

namespace polarquant {
namespace {

using test::normal_numbers;

/// By sorting all rows, with sums in long double.
std::vector<int64_t> sorted_neighbours(Metric metric, int dim, const std::vector<float>& x,
                                       const float* query, int64_t k) {
  std::vector<std::pair<long double, int64_t>> costs;
  for (size_t first = 0; first < x.size(); first += static_cast<size_t>(dim)) {
    long double cost = 0;
    for (int j = 0; j < dim; ++j) {
      const long double a = x[first + static_cast<size_t>(j)];
      const long double b = query[j];
      cost += metric == Metric::l2 ? (a - b) * (a - b) : -a * b;
    }
    costs.emplace_back(cost, static_cast<int64_t>(costs.size()));
  }
  std::sort(costs.begin(), costs.end());
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < k; ++i) ids.push_back(costs[static_cast<size_t>(i)].second);
  return ids;
}

}  // namespace

TEST_CASE("exact search finds what sorting finds", "[scan]") {
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2);
  const int dim = GENERATE(1, 3, 17, 384);
  const int64_t n = GENERATE(1, 40, 700);
  const int64_t nq = 19;
  const std::vector<float> x = normal_numbers(n * dim, 1);
  const std::vector<float> queries = normal_numbers(nq * dim, 2);
  for (const int64_t k : {int64_t{1}, std::min<int64_t>(n, 10), n}) {
    std::vector<int64_t> ids(static_cast<size_t>(nq * k));
    std::atomic<int64_t> done = 0;
    exact_search(
        {metric, dim, n, x.data(), nq, queries.data()}, k, 2, [&](int64_t more) { done += more; },
        ids.data());
    CHECK(done == nq);
    for (int64_t q = 0; q < nq; ++q) {
      const std::vector<int64_t> expected =
          sorted_neighbours(metric, dim, x, queries.data() + q * dim, k);
      CAPTURE(dim, n, k, q);
      CHECK(std::equal(expected.begin(), expected.end(), ids.begin() + q * k));
    }
  }
}

TEST_CASE("of equal rows exact search takes the lower id", "[scan]") {
  const int dim = 5;
  std::vector<float> x = normal_numbers(dim, 1);
  for (int copy = 0; copy < 6; ++copy) x.insert(x.end(), x.begin(), x.begin() + dim);
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    std::vector<int64_t> ids(4);
    exact_search({metric, dim, 7, x.data(), 1, x.data()}, 4, 1, {}, ids.data());
    CHECK(ids == std::vector<int64_t>{0, 1, 2, 3});
  }
}

TEST_CASE("exact search refuses a k that the rows do not have", "[scan]") {
  const std::vector<float> x = normal_numbers(6, 1);
  std::vector<int64_t> ids(4);
  for (const int64_t k : {0, 4}) {
    test::require_error(StatusCode::bad_argument, "k: ", [&] {
      exact_search({Metric::l2, 2, 3, x.data(), 1, x.data()}, k, 1, {}, ids.data());
    });
  }
}

TEST_CASE("neighbours found are counted by id, each once", "[scan]") {
  const std::vector<int64_t> wanted = {5, 1, 9};
  CHECK(neighbours_found(std::vector<int64_t>{1, 9, 5}, wanted) == 3);
  CHECK(neighbours_found(std::vector<int64_t>{1, 1, 1}, wanted) == 1);
  CHECK(neighbours_found(std::vector<int64_t>{-1, 2, 9}, wanted) == 1);
  CHECK(neighbours_found(std::vector<int64_t>{}, wanted) == 0);
}

TEST_CASE("rows as near as the last neighbour count as found, no more than there are", "[scan]") {
  // Rows 0 to 9 are 0, 1, 1, 1, 2, 2, 2, 3, 3, 3 away.
  const RowCost cost = [](int64_t row) { return static_cast<double>((row + 2) / 3); };
  const std::vector<int64_t> wanted = {0, 1, 2};
  const auto found = [&](std::vector<int64_t> got) { return neighbours_found(got, wanted, cost); };
  CHECK(found({0, 1, 2}) == 3);
  CHECK(found({0, 3, 2}) == 3);
  CHECK(found({1, 2, 3}) == 3);  // in the place of row 0 one as near as the last
  CHECK(found({3, 3, 3}) == 1);
  CHECK(found({3, 4, 9}) == 1);
  CHECK(found({0, 3, -1}) == 2);
  CHECK(found({0, 1, 2, 3}) == 3);
  CHECK(neighbours_found(std::vector<int64_t>{4, 5, 6}, wanted) == 0);
}

TEST_CASE("equal rows cost the same wherever they lie", "[scan]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    for (const int dim : {1, 7, 33, 384}) {
      const std::vector<float> query = normal_numbers(dim, 2);
      std::vector<float> x = normal_numbers(dim, 1);
      for (int copy = 0; copy < 9; ++copy) x.insert(x.end(), x.begin(), x.begin() + dim);
      for (int copy = 1; copy < 10; ++copy) {
        CHECK(exact_cost(metric, dim, query.data(), x.data() + copy * dim) ==
              exact_cost(metric, dim, query.data(), x.data()));
      }
    }
  }
}

}  // namespace polarquant
