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

TEST_CASE("Rows of a training are refused when they are too long together", "[faiss]") {
  const auto index = polarquant::index_factory(kDim, "PCA8,Polar4", ::faiss::METRIC_L2);
  std::vector<float> x = clustered_rows(kRows, kDim, 7);
  for (float& value : x) value = std::copysign(5e17F, value);  // 2e18 long
  require_faiss_error("the squared lengths of 200 rows add up to",
                      [&] { index->train(kRows, x.data()); });
}

}  // namespace
}  // namespace polarquant::test
