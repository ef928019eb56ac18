// SPDX-License-Identifier: MIT
// Rows and queries that are finite, but too long for FAISS's floats, are refused by every call of
// ours that gives them to FAISS's parts; the index is as it was.
#include <faiss/impl/AuxIndexStructures.h>

#include <limits>
#include <string>

#include "tests/faiss/clustered_rows.h"
#include "tests/faiss/stored_indexes.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 16;
constexpr int64_t kRows = 200;

std::vector<float> with_long_row(int64_t rows, float coordinate) {
  std::vector<float> x = clustered_rows(rows, kDim, 7);
  x[static_cast<size_t>(kDim) + 3] = coordinate;
  return x;
}

TEST_CASE("Rows that are too long reach no part of FAISS's", "[faiss]") {
  const std::string description =
      GENERATE("Polar4", "PCA8,Polar4", "L2norm,Polar4", "IDMap2,Polar4", "Polar2,RFlat",
               "SQ8,Refine(Polar8)", "IDMap,PCA8,Polar2,RFlat", "IVF4,Polar4", "IVF4_HNSW8,Polar4",
               "PCA8,IVF4,Polar4", "HNSW8,Polar4", "NSG8,Polar4");
  INFO(description);
  const bool has_map = description.find("IDMap") != std::string::npos;
  const auto index = polarquant::index_factory(kDim, description, ::faiss::METRIC_L2);
  for (const float coordinate : {2.4e18F, 1e19F, -1e30F, std::numeric_limits<float>::max()}) {
    const std::vector<float> x = with_long_row(kRows, coordinate);
    require_faiss_error("row 1 has length", [&] { index->train(kRows, x.data()); });
  }
  const std::vector<float> good = clustered_rows(kRows, kDim, 7);
  index->train(kRows, good.data());
  std::vector<int64_t> ids(kRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(1000 + i);
  const auto add = [&](const std::vector<float>& x) {
    if (has_map) {
      index->add_with_ids(kRows, x.data(), ids.data());
    } else {
      index->add(kRows, x.data());
    }
  };
  const std::vector<float> x = with_long_row(kRows, 1e19F);
  require_faiss_error("up to 2.31e+18 (2^61) is allowed", [&] { add(x); });
  CHECK(index->ntotal == 0);
  add(good);
  CHECK(index->ntotal == kRows);
  require_faiss_error("row 1 has length", [&] { find(*index, x, 3); });
  ::faiss::RangeSearchResult found(kRows);
  if (description.find("HNSW") != 0 && description.find("NSG") != 0 &&
      description.find("Refine") == std::string::npos &&
      description.find("RFlat") == std::string::npos) {
    require_faiss_error("row 1 has length",
                        [&] { index->range_search(kRows, x.data(), 1, &found); });
  }
  CHECK(find(*index, good, 3).labels.size() == 3 * kRows);
}

TEST_CASE("A row is as long as it comes, before the index's transforms", "[faiss]") {
  const std::string description = GENERATE("PCA8,Polar4", "IDMap,PCA8,Polar2,RFlat",
                                           "IDMap2,PCA8,Polar4", "PCA8,IDMap2,Polar4");
  INFO(description);
  const auto index = polarquant::index_factory(kDim, description, ::faiss::METRIC_L2);
  // All that they have is in the first 8 coordinates, and so are the axes that are kept.
  std::vector<float> good = clustered_rows(kRows, kDim, 7);
  for (size_t i = 0; i < good.size(); ++i)
    if (i % kDim >= 8) good[i] = 0;
  index->train(kRows, good.data());
  std::vector<float> x = good;
  x[2 * kDim - 1] = 1e19F;
  std::vector<int64_t> ids(kRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(1000 + i);
  require_faiss_error("row 1 has length 1e+19", [&] {
    if (description.find("IDMap") != std::string::npos) {
      index->add_with_ids(kRows, x.data(), ids.data());
    } else {
      index->add(kRows, x.data());
    }
  });
  CHECK(index->ntotal == 0);
}

TEST_CASE("FAISS's own classes get no row that is too long by our calls", "[faiss]") {
  const std::string description =
      GENERATE("Flat", "SQ8", "PQ4x4np", "IVF4,Flat", "IVF4,PQ4x4np", "IVF4(Polar8),SQ8",
               "PCA8,IVF4,Flat", "IDMap2,Flat", "HNSW8,Flat", "NSG8,Flat", "SQ8,RFlat", "LSH");
  INFO(description);
  const bool has_map = description.find("IDMap") != std::string::npos;
  const auto index = polarquant::index_factory(kDim, description, ::faiss::METRIC_L2);
  for (const float coordinate : {2.4e18F, 1e19F, -1e30F, std::numeric_limits<float>::max()}) {
    const std::vector<float> x = with_long_row(kRows, coordinate);
    require_faiss_error("train: row 1 has length", [&] { train_index(*index, kRows, x.data()); });
  }
  require_faiss_error("x is null", [&] { train_index(*index, kRows, nullptr); });
  const std::vector<float> good = clustered_rows(kRows, kDim, 7);
  train_index(*index, kRows, good.data());
  std::vector<int64_t> ids(kRows);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(1000 + i);
  const std::vector<float> x = with_long_row(kRows, 1e19F);
  const int64_t* given = has_map ? ids.data() : nullptr;
  require_faiss_error("add: row 1 has length",
                      [&] { add_to_index(*index, kRows, x.data(), given); });
  CHECK(index->ntotal == 0);
  add_to_index(*index, kRows, good.data(), given);
  CHECK(index->ntotal == kRows);
  const auto theirs = polarquant::index_factory(kDim, description, ::faiss::METRIC_L2);
  theirs->train(kRows, good.data());
  if (has_map) {
    theirs->add_with_ids(kRows, good.data(), ids.data());
  } else {
    theirs->add(kRows, good.data());
  }
  const std::vector<float> queries = clustered_rows(20, kDim, 8);
  // Graphs of several threads differ.
  if (description.find("HNSW") != 0) CHECK(find(*index, queries, 3) == find(*theirs, queries, 3));
}

TEST_CASE("Rows of a training are refused when they are too long together", "[faiss]") {
  const auto index = polarquant::index_factory(kDim, "PCA8,Polar4", ::faiss::METRIC_L2);
  std::vector<float> x = clustered_rows(kRows, kDim, 7);
  for (float& value : x) value = std::copysign(5e17F, value);  // 2e18 long
  require_faiss_error("the squared lengths of 200 rows add up to",
                      [&] { index->train(kRows, x.data()); });
}

}  // namespace
}  // namespace polarquant::test
