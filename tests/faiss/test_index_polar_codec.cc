// SPDX-License-Identifier: MIT
// IndexPolar's codec: codes of single rows, codes of groups, and options.
#include <algorithm>
#include <limits>
#include <vector>

#include "polarquant/faiss.h"
#include "src/codec/codec.h"
#include "tests/faiss/clustered_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 64;
constexpr int64_t kRows = 1500;

const std::vector<float>& rows() {
  static const std::vector<float> values = clustered_rows(kRows, kDim, 1);
  return values;
}

TEST_CASE("IndexPolar is a codec of single rows", "[faiss]") {
  IndexPolar index(kDim, GENERATE("Polar2", "Polar8", "Polar2+2", "PolarScalar4"));
  index.train(kRows, rows().data());
  const size_t code_size = index.sa_code_size();
  CHECK(code_size == index.codec().layout().group_bytes);
  std::vector<uint8_t> codes(static_cast<size_t>(kRows) * code_size);
  index.sa_encode(kRows, rows().data(), codes.data());
  std::vector<float> decoded(static_cast<size_t>(kRows * kDim));
  index.sa_decode(kRows, codes.data(), decoded.data());
  index.add(kRows, rows().data());
  std::vector<float> stored(decoded.size());
  index.reconstruct_n(0, kRows, stored.data());
  CHECK(decoded == stored);
  std::vector<float> bad(kDim, std::numeric_limits<float>::infinity());
  require_faiss_error("row 0", [&] { index.sa_encode(1, bad.data(), codes.data()); });
}

TEST_CASE("A codec of groups has no codes of single rows, but all the rest", "[faiss]") {
  IndexPolar index(kDim, "PolarPair4x4g128");
  index.train(kRows, rows().data());
  std::vector<uint8_t> code(4096);
  std::vector<float> x(static_cast<size_t>(kRows * kDim));
  require_faiss_error("no code of its own", [&] { index.sa_code_size(); });
  require_faiss_error("no code of its own", [&] { index.sa_encode(1, x.data(), code.data()); });
  require_faiss_error("no code of its own", [&] { index.sa_decode(1, code.data(), x.data()); });

  IndexPolar pieces(kDim, "PolarPair4x4g128");
  pieces.train(kRows, rows().data());
  index.add(kRows, rows().data());
  for (int64_t first = 0; first < kRows; first += 100) {
    pieces.add(100, rows().data() + first * kDim);
  }
  const std::vector<float> queries = clustered_rows(40, kDim, 2);
  CHECK(find(pieces, queries, 10) == find(index, queries, 10));
  index.reconstruct_n(0, kRows, x.data());
  // 1500 = 11 groups of 128 and 92 rows, which are kept as they are.
  CHECK(std::equal(x.begin() + 1408 * kDim, x.end(), rows().begin() + 1408 * kDim));
}

TEST_CASE("IndexPolar's options reach its codec", "[faiss]") {
  IndexPolar::Options options;
  options.seed = 5;
  options.centre.assign(kDim, .5F);
  options.norm_unit = 8;
  IndexPolar index(kDim, "Polar4", ::faiss::METRIC_L2, options);
  CHECK(index.codec().seed() == 5);
  CHECK(index.codec().centre()[3] == .5F);
  CHECK(index.codec().norm_unit() == 8);
  options.centre.clear();
  options.norm_unit = 0;
  options.learn_centre = false;
  IndexPolar uncentred(kDim, "Polar4", ::faiss::METRIC_L2, options);
  uncentred.train(kRows, rows().data());
  CHECK(std::all_of(uncentred.codec().centre().begin(), uncentred.codec().centre().end(),
                    [](float v) { return v == 0; }));
}

}  // namespace
}  // namespace polarquant::test
