// SPDX-License-Identifier: MIT
// Finite rows that are too long for FAISS's floats never reach it, by whatever call they come;
// long rows that are taken make indexes that work.
#include <algorithm>
#include <string>

#include "tests/capi/capi_support.h"

using namespace polarquant::test;

namespace {

constexpr int32_t kDim = 16;
constexpr int64_t kRows = 300;

const char* const kDescriptions[] = {
    "Flat",
    "SQ8",
    "PQ4x4np",
    "LSH",
    "PCA8,Flat",
    "OPQ4,PQ4x4np",
    "IVF4,Flat",
    "IVF4,PQ4x4np",
    "IVF4,SQ8",
    "IVF4_HNSW8,Flat",
    "HNSW8,Flat",
    "NSG8,Flat",
    "IDMap2,Flat",
    "SQ8,RFlat",
    "RQ2x4",
    "Polar4",
    "PCA8,Polar4",
    "Polar2,RFlat",
    "IVF4,Polar4",
    "HNSW8,Polar4",
    "NSG8,Polar4",
    "IDMap2,Polar4",
    "IVF4(Polar8),SQ8",
    "IVF4(Polar8),Polar4",
};

std::vector<float> scaled(float factor) {
  std::vector<float> x = normal_rows(kRows, kDim, 1);
  for (float& value : x) value *= factor;
  return x;
}

TEST_CASE("Rows that are too long are refused before FAISS sees them", "[capi]") {
  const std::string description =
      GENERATE(from_range(std::begin(kDescriptions), std::end(kDescriptions)));
  INFO(description);
  IndexHandle made = make_index(description.c_str(), kDim, POLAR_METRIC_L2);
  polar_index* index = made.get();
  for (const float factor : {1e18F, 1e19F, 1e30F, 1e37F}) {
    check_failed(polar_index_train(index, kRows, scaled(factor).data(), nullptr),
                 POLAR_ERROR_BAD_ARGUMENT, {"x: ", "2^61"});
  }
  CHECK(polar_index_ntotal(index) == 0);
  const std::vector<float> good = scaled(1);
  require_ok(polar_index_train(index, kRows, good.data(), nullptr));
  const std::vector<float> wrong = scaled(1e19F);
  check_failed(polar_index_add(index, kRows, wrong.data(), nullptr), POLAR_ERROR_BAD_ARGUMENT,
               {"x: row 0 has length", "2.31e+18 (2^61) is allowed"});
  require_ok(polar_index_add(index, kRows, good.data(), nullptr));
  std::vector<float> scores(4 * 5);
  std::vector<int64_t> ids(4 * 5);
  check_failed(polar_index_search(index, 4, wrong.data(), 5, nullptr, scores.data(), ids.data()),
               POLAR_ERROR_BAD_ARGUMENT, {"queries: row 0 has length"});
  std::vector<int64_t> lims(5);
  check_failed(polar_index_range_search(index, 4, wrong.data(), 1, nullptr, 20, lims.data(),
                                        scores.data(), ids.data()),
               POLAR_ERROR_BAD_ARGUMENT, {"queries: row 0 has length"});
  check_failed(polar_index_update(index, 1, ids.data(), wrong.data(), nullptr),
               POLAR_ERROR_BAD_ARGUMENT, {"x: row 0 has length"});
  CHECK(polar_index_ntotal(index) == kRows);
  require_ok(polar_index_search(index, 4, good.data(), 5, nullptr, scores.data(), ids.data()));
}

TEST_CASE("FAISS's parts work with the longest rows that are taken", "[capi]") {
  for (const char* description : {"Flat", "IVF4,Flat", "IVF4,PQ4x4np", "PCA8,Flat", "HNSW8,Flat",
                                  "OPQ4,PQ4x4np", "SQ8,RFlat", "RQ2x4"}) {
    INFO(description);
    // 300 rows of a length near 2^58, whose squares together are near 2^124.
    const std::vector<float> x = scaled(5e16F);
    const IndexHandle index = make_index(description, kDim, POLAR_METRIC_L2);
    require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
    require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
    std::vector<float> scores(4);
    std::vector<int64_t> ids(4);
    require_ok(polar_index_search(index.get(), 4, x.data(), 1, nullptr, scores.data(), ids.data()));
    CHECK(std::all_of(ids.begin(), ids.end(), [](int64_t id) { return id >= 0; }));
  }
}

TEST_CASE("Cosine takes rows of any length", "[capi]") {
  const IndexHandle index = make_index("IVF4,Flat", kDim, POLAR_METRIC_COSINE);
  const std::vector<float> x = scaled(1e37F);
  require_ok(polar_index_train(index.get(), kRows, x.data(), nullptr));
  require_ok(polar_index_add(index.get(), kRows, x.data(), nullptr));
  float score = 0;
  int64_t id = -1;
  require_ok(polar_index_search(index.get(), 1, x.data(), 1, nullptr, &score, &id));
  CHECK(id == 0);
}

}  // namespace
