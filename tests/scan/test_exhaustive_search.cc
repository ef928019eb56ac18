// SPDX-License-Identifier: MIT
// exhaustive_search against sorting all of Codec::score's scores.
#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/codec/code_buffer.h"
#include "src/codec/codec.h"
#include "src/core/random.h"
#include "src/scan/search/exhaustive_search.h"
#include "src/scan/search/top_k.h"
#include "tests/scan/without_amx.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

std::vector<float> normal_rows(int64_t n, int dim, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(n) * static_cast<size_t>(dim));
  for (float& v : x) v = static_cast<float>(random.normal());
  return x;
}

struct Result {
  std::vector<float> scores;
  std::vector<int64_t> ids;

  bool operator==(const Result&) const = default;
};

Result search(const Codec& codec, CodeRows codes, const std::vector<float>& queries, int64_t k,
              const RowFilter& filter, int threads) {
  const auto nq = static_cast<int64_t>(queries.size()) / codec.dim();
  Result result{std::vector<float>(static_cast<size_t>(nq * k), 77.0F),
                std::vector<int64_t>(static_cast<size_t>(nq * k), 77)};
  exhaustive_search(codec, codes,
                    {.nq = nq,
                     .queries = queries.data(),
                     .goal = SearchGoal::best(k),
                     .filter = filter,
                     .threads = threads},
                    {result.scores.data(), result.ids.data()});
  return result;
}

/// Every score from Codec::score, sorted whole.
Result search_by_sorting(const Codec& codec, CodeRows codes, const std::vector<float>& queries,
                         int64_t k, const RowFilter& filter) {
  const bool higher = codec.higher_is_nearer();
  const float worst =
      higher ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  Result result;
  for (size_t q = 0; q < queries.size(); q += static_cast<size_t>(codec.dim())) {
    const PreparedQuery prepared = codec.prepare_query(queries.data() + q);
    std::vector<float> scores(static_cast<size_t>(codes.rows));
    codec.score(prepared, codes, 0, codes.rows, scores.data());
    std::vector<int64_t> order;
    for (int64_t row = 0; row < codes.rows; ++row) {
      if (filter.keeps(row)) order.push_back(row);
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const float score_a = scores[static_cast<size_t>(a)];
      const float score_b = scores[static_cast<size_t>(b)];
      return higher ? score_a > score_b : score_a < score_b;
    });
    for (int64_t i = 0; i < k; ++i) {
      const bool found = i < static_cast<int64_t>(order.size());
      result.ids.push_back(found ? order[static_cast<size_t>(i)] : -1);
      result.scores.push_back(found ? scores[static_cast<size_t>(order[static_cast<size_t>(i)])]
                                    : worst);
    }
  }
  return result;
}

TEST_CASE("exhaustive_search is a sort of all scores, to the bit", "[scan]") {
  const char* name = GENERATE("Polar2", "Polar4", "Polar8", "Polar2+2", "PolarScalar4",
                              "PolarPair4x4", "PolarPair4x4g128");
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2, Metric::cosine);
  const int dim = std::string(name) == "Polar2" ? 384 : 50;  // 384: several tiles in a range
  INFO(name << " metric " << static_cast<int>(metric));
  Codec codec(parse_spec(name), dim, metric, CodecOptions{});
  const std::vector<float> x = normal_rows(1100, dim, 3);
  codec.train(1100, x.data());
  const std::vector<float> queries = normal_rows(3, dim, 4);
  CodeBuffer buffer;
  for (const int64_t rows : {0, 1, 10, 1024, 1100}) {
    buffer.append(codec, rows - buffer.size(), x.data() + buffer.size() * dim, 0);
    const int threads = rows < 1100 ? 1 : 3;
    for (const int64_t k : {1, 10, 1200}) {
      CHECK(search(codec, buffer.rows(), queries, k, {}, threads) ==
            search_by_sorting(codec, buffer.rows(), queries, k, {}));
    }
  }
}

TEST_CASE("exhaustive_search gives the same with any number of threads", "[scan]") {
  Codec codec(parse_spec("Polar2"), 32, Metric::l2, CodecOptions{});
  // Each row four times, so that every score is tied.
  std::vector<float> x = normal_rows(1200, 32, 5);
  for (int i = 0; i < 2; ++i)
    x.insert(x.end(), x.begin(), x.begin() + static_cast<ptrdiff_t>(x.size()));
  CodeBuffer buffer;
  buffer.append(codec, 4800, x.data(), 0);
  for (const int64_t nq : {1, 7, 100}) {
    const std::vector<float> queries = normal_rows(nq, 32, 6);
    const Result expected = search_by_sorting(codec, buffer.rows(), queries, 10, {});
    for (const int threads : {0, 1, 2, 3, 8, 33}) {
      CHECK(search(codec, buffer.rows(), queries, 10, {}, threads) == expected);
    }
  }
}

TEST_CASE("exhaustive_search splits many queries over few rows", "[scan]") {
  Codec codec(parse_spec("Polar4"), 20, Metric::inner_product, CodecOptions{});
  CodeBuffer buffer;
  const std::vector<float> x = normal_rows(30, 20, 7);
  buffer.append(codec, 30, x.data(), 0);
  const std::vector<float> queries = normal_rows(2500, 20, 8);  // more than one group
  const Result expected = search_by_sorting(codec, buffer.rows(), queries, 4, {});
  for (const int threads : {1, 2, 5}) {
    CHECK(search(codec, buffer.rows(), queries, 4, {}, threads) == expected);
  }
}

TEST_CASE("exhaustive_search leaves out what the filter does", "[scan]") {
  Codec codec(parse_spec("Polar3"), 48, Metric::inner_product, CodecOptions{});
  const std::vector<float> x = normal_rows(3000, 48, 9);
  CodeBuffer buffer;
  buffer.append(codec, 3000, x.data(), 0);
  const std::vector<float> queries = normal_rows(6, 48, 10);
  const RowFilter filters[] = {
      [](int64_t row) { return row % 7 == 3; },
      [](int64_t) { return false; },
      [](int64_t row) { return row == 2999; },
  };
  for (const RowFilter& filter : filters) {
    const Result expected = search_by_sorting(codec, buffer.rows(), queries, 12, filter);
    for (const int threads : {1, 3}) {
      CHECK(search(codec, buffer.rows(), queries, 12, filter, threads) == expected);
    }
  }
  const RowFilter throwing = [](int64_t row) -> bool {
    if (row == 1700) throw std::runtime_error("row 1700");
    return true;
  };
  CHECK_THROWS_AS(search(codec, buffer.rows(), queries, 1, throwing, 2), std::runtime_error);
}

/// Rows, or queries, that rounding to bytes takes badly.
std::vector<float> hard_rows(int64_t n, int dim, uint64_t seed, float huge) {
  std::vector<float> x = normal_rows(n, dim, seed);
  for (int64_t i = 0; i < n; ++i) {
    float* row = x.data() + i * dim;
    if (i % 5 == 1) row[i % dim] *= 1000;         // one long coordinate
    if (i % 5 == 2) std::fill_n(row, dim, 0.0F);  // none
    if (i % 5 == 3) {
      const float tiny = i % 10 == 3 ? 1e-20F : 1e-25F;  // of squares that are 0 as floats
      std::transform(row, row + dim, row, [=](float v) { return tiny * v; });
    }
    if (i % 50 == 4) std::transform(row, row + dim, row, [&](float v) { return huge * v; });
  }
  return x;
}

TEST_CASE("many queries get the exact best of hard rows", "[scan]") {
  const char* name = GENERATE("PolarPair4x4", "PolarScalar4", "PolarTree4.2.2.2", "Polar2");
  const Metric metric = GENERATE(Metric::inner_product, Metric::l2, Metric::cosine);
  INFO(name << " metric " << static_cast<int>(metric));
  const int dim = 48;
  const bool cosine = metric == Metric::cosine;
  // float16 factors reach four decades, which hard rows are beyond; codes without factors take any.
  const bool hard = std::string(name) == "PolarPair4x4" && !cosine;
  const std::vector<float> x = hard ? hard_rows(500, dim, 20, 1e9F) : normal_rows(500, dim, 20);
  Codec codec(parse_spec(name), dim, metric, CodecOptions{});
  codec.train(500, x.data());
  CodeBuffer buffer;
  buffer.append(codec, 500, x.data(), 0);
  const std::vector<float> queries =
      cosine ? normal_rows(70, dim, 21) : hard_rows(70, dim, 21, 1e17F);
  for (const int64_t k : {1, 10, 600}) {
    const Result expected = search_by_sorting(codec, buffer.rows(), queries, k, {});
    for (const int threads : {1, 3}) {
      CHECK(search(codec, buffer.rows(), queries, k, {}, threads) == expected);
      const WithoutAmx without;
      CHECK(search(codec, buffer.rows(), queries, k, {}, threads) == expected);
    }
  }
}

TEST_CASE("exhaustive_search tells its progress, and stops when told", "[scan]") {
  Codec codec(parse_spec("PolarScalar2"), 32, Metric::l2, CodecOptions{});
  CodeBuffer buffer;
  const std::vector<float> x = normal_rows(5000, 32, 12);
  buffer.append(codec, 5000, x.data(), 0);
  for (const int64_t nq : {1, 40}) {
    std::vector<float> scores(static_cast<size_t>(nq));
    std::vector<int64_t> ids(static_cast<size_t>(nq));
    std::vector<double> heard;
    SearchRequest request = {.nq = nq, .queries = x.data(), .goal = SearchGoal::best(1)};
    request.progress = [&](double done) {
      heard.push_back(done);
      return true;
    };
    exhaustive_search(codec, buffer.rows(), request, {scores.data(), ids.data()});
    REQUIRE(heard.size() >= 5);
    CHECK(std::is_sorted(heard.begin(), heard.end()));
    CHECK(heard.back() == 1);
    request.progress = [](double done) { return done < .5; };
    require_error(StatusCode::cancelled, "stopped by its progress function", [&] {
      exhaustive_search(codec, buffer.rows(), request, {scores.data(), ids.data()});
    });
  }
}

TEST_CASE("exhaustive_search names arguments it cannot take", "[scan]") {
  Codec codec(parse_spec("Polar3"), 8, Metric::l2, CodecOptions{});
  std::vector<float> query(8, 1.0F);
  const auto search = [&](int64_t nq, int64_t k) {
    exhaustive_search(codec, {}, {.nq = nq, .queries = query.data(), .goal = SearchGoal::best(k)},
                      {nullptr, nullptr});
  };
  require_error(StatusCode::bad_argument, "k: 0", [&] { search(1, 0); });
  require_error(StatusCode::bad_argument, "nq: -1", [&] { search(-1, 1); });
  require_error(StatusCode::bad_argument, "nq x k",
                [&] { search(int64_t{1} << 40, int64_t{1} << 40); });
  require_error(StatusCode::bad_argument, "exactness: -1", [&] {
    exhaustive_search(codec, {},
                      {.nq = 1,
                       .queries = query.data(),
                       .goal = SearchGoal::best(1),
                       .options = {.exactness = -1}},
                      {nullptr, nullptr});
  });
  search(0, 1);
}

}  // namespace
}  // namespace polarquant::test
