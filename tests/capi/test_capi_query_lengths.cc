// SPDX-License-Identifier: MIT
// Queries of any length within a float's range: the answers of queries of length 1, or a refusal.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 80;
constexpr int64_t kRows = 500;
constexpr int64_t kQueries = 4;
constexpr int64_t kK = 10;

struct Found {
  std::vector<float> scores = std::vector<float>(kQueries * kK);
  std::vector<int64_t> ids = std::vector<int64_t>(kQueries * kK);
};

polar_status search(const IndexHandle& index, const std::vector<float>& queries, Found* found) {
  polar_search_options options;
  polar_search_options_init(&options);
  return polar_index_search(index.get(), kQueries, queries.data(), kK, &options,
                            found->scores.data(), found->ids.data());
}

std::vector<float> scaled(const std::vector<float>& from, double by) {
  std::vector<float> to;
  for (const float value : from) to.push_back(static_cast<float>(value * by));
  return to;
}

}  // namespace

TEST_CASE("queries of any length find what those of length 1 do", "[capi][queries]") {
  const std::vector<float> rows = normal_rows(kRows, kDim, 1);
  const std::vector<float> queries = scaled(normal_rows(kQueries, kDim, 2), 1 / std::sqrt(kDim));
  for (const char* description : {"Polar1", "Polar2", "Polar4", "Polar8", "Polar2+2", "Polar2-pca",
                                  "PolarScalar4", "PolarTree4.2.2.2", "PolarPair4x4", "IVF4,Polar4",
                                  "HNSW16,Polar4", "NSG16,Polar2", "Polar2,RFlat", "Flat", "SQ8"}) {
    for (const polar_metric metric : {POLAR_METRIC_INNER_PRODUCT, POLAR_METRIC_COSINE}) {
      const IndexHandle index = make_index(description, kDim, metric);
      require_ok(polar_index_train(index.get(), kRows, rows.data(), nullptr));
      require_ok(polar_index_add(index.get(), kRows, rows.data(), nullptr));
      Found expected;
      require_ok(search(index, queries, &expected));
      // Powers of two, so that no coordinate is rounded.
      for (const int exponent : {-110, -100, -60, -20, 17, 33, 50, 60}) {
        INFO(description << ", metric " << metric << ", length 2^" << exponent);
        Found found;
        require_ok(search(index, scaled(queries, std::ldexp(1, exponent)), &found));
        CHECK(found.ids == expected.ids);
        for (size_t i = 0; i < found.scores.size(); ++i) {
          const double score = metric == POLAR_METRIC_COSINE
                                   ? double{expected.scores[i]}
                                   : std::ldexp(double{expected.scores[i]}, exponent);
          CHECK(found.scores[i] == Approx(score).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("distances to queries of any length are right", "[capi][queries]") {
  const std::vector<float> rows = normal_rows(kRows, kDim, 1);
  const std::vector<float> queries = scaled(normal_rows(kQueries, kDim, 2), 1 / std::sqrt(kDim));
  for (const char* description : {"Polar2", "Polar4", "Polar8", "Polar2+2", "Polar2-pca",
                                  "PolarScalar4", "IVF4,Polar4", "HNSW16,Polar4", "Flat"}) {
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(polar_index_train(index.get(), kRows, rows.data(), nullptr));
    require_ok(polar_index_add(index.get(), kRows, rows.data(), nullptr));
    for (const int exponent : {-145, -126, -110, -60, -20, 10, 30, 60}) {
      INFO(description << ", length 2^" << exponent);
      const std::vector<float> asked = scaled(queries, std::ldexp(1, exponent));
      Found found;
      require_ok(search(index, asked, &found));
      for (int64_t query = 0; query < kQueries; ++query) {
        for (int64_t i = 0; i < kK; ++i) {
          const auto at = static_cast<size_t>(query * kK + i);
          REQUIRE(found.ids[at] >= 0);
          double distance = 0;
          for (int j = 0; j < kDim; ++j) {
            const double difference = double{asked[static_cast<size_t>(query * kDim + j)]} -
                                      rows[static_cast<size_t>(found.ids[at] * kDim + j)];
            distance += difference * difference;
          }
          CHECK(found.scores[at] == Approx(distance).epsilon(.2));
        }
      }
    }
  }
}

TEST_CASE("queries out of a search's range are refused", "[capi][queries]") {
  const std::vector<float> rows = normal_rows(kRows, kDim, 1);
  for (const char* description : {"Polar2", "IVF4,Polar4", "HNSW16,Polar4"}) {
    INFO(description);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_INNER_PRODUCT);
    require_ok(polar_index_train(index.get(), kRows, rows.data(), nullptr));
    require_ok(polar_index_add(index.get(), kRows, rows.data(), nullptr));
    Found found;
    const std::vector<float> some(rows.begin(), rows.begin() + kQueries * kDim);
    for (const int exponent : {-148, -126, -118})
      check_failed(search(index, scaled(some, std::ldexp(1, exponent)), &found),
                   POLAR_ERROR_BAD_ARGUMENT, {"query", "norm"});
    for (const int exponent : {62, 100})
      check_failed(search(index, scaled(some, std::ldexp(1, exponent)), &found),
                   POLAR_ERROR_BAD_ARGUMENT, {"queries: row 0 has length", "2^61"});
    require_ok(search(index, scaled(some, 0), &found));
    CHECK(std::count(found.ids.begin(), found.ids.end(), -1) == 0);
  }
}
