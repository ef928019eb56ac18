// SPDX-License-Identifier: MIT
// "L2norm": rows scaled to length 1 by sums in one order, whatever FAISS or machine.
#include "src/faiss/index/row_normalization.h"

#include <faiss/IndexPreTransform.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "polarquant/faiss.h"
#include "src/core/random.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

std::vector<float> normal_row(int dim, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(dim));
  for (float& number : x) number = static_cast<float>(random.normal());
  return x;
}

std::vector<float> normalized(const std::vector<float>& x, int dim) {
  const RowNormalization transform(dim);
  std::vector<float> out(x.size());
  transform.apply_noalloc(static_cast<idx_t>(x.size()) / dim, x.data(), out.data());
  return out;
}

TEST_CASE("Rows are scaled by squares in float, summed in double", "[faiss]") {
  for (int dim = 1; dim <= 40; ++dim) {
    const std::vector<float> x = normal_row(dim, static_cast<uint64_t>(dim));
    double sum = 0;
    for (const float number : x) {
      const volatile float square = number * number;
      sum += square;
    }
    const float factor = 1.0F / std::sqrt(static_cast<float>(sum));
    const std::vector<float> found = normalized(x, dim);
    double found2 = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      CHECK(found[j] == x[j] * factor);
      found2 += static_cast<double>(found[j]) * found[j];
    }
    CHECK(std::fabs(found2 - 1) < 1e-6);
  }
}

// Bits that the sum was pinned to: a machine or compiler that adds otherwise has others.
TEST_CASE("A row is scaled to the same bits everywhere", "[faiss]") {
  const std::vector<float> found = normalized(normal_row(23, 7), 23);
  uint32_t mixed = 0;
  for (const float number : found) mixed = mixed * 31 + std::bit_cast<uint32_t>(number);
  CHECK(mixed == 0xa48534ceU);
}

TEST_CASE("Rows without a length stay as they are, and many rows are each their own", "[faiss]") {
  constexpr int kDim = 5;
  constexpr int64_t kRows = 1000;
  std::vector<float> x = normal_row(kDim * kRows, 3);
  std::fill_n(x.begin(), kDim, 0.0F);
  x[kDim] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = normalized(x, kDim);
  for (int j = 0; j < kDim; ++j) CHECK(found[static_cast<size_t>(j)] == 0);
  CHECK(std::isnan(found[kDim]));
  for (int j = 1; j < kDim; ++j)
    CHECK(found[static_cast<size_t>(kDim + j)] == x[static_cast<size_t>(kDim + j)]);
  for (int64_t row : {2, 255, 256, 511, 999}) {
    const auto first = x.begin() + row * kDim;
    const std::vector<float> alone = normalized({first, first + kDim}, kDim);
    CHECK(std::equal(alone.begin(), alone.end(), found.begin() + row * kDim));
  }
}

TEST_CASE("Indexes scale by our sums, built or read", "[faiss][io]") {
  const auto is_ours = [](const ::faiss::Index& index) {
    const auto& chain = dynamic_cast<const ::faiss::IndexPreTransform&>(index).chain;
    return chain.size() == 2 && dynamic_cast<const RowNormalization*>(chain[1]) != nullptr &&
           dynamic_cast<const RowNormalization*>(chain[0]) == nullptr;
  };
  const auto built = polarquant::index_factory(12, "RR8,L2norm,Polar4", ::faiss::METRIC_L2);
  CHECK(is_ours(*built));
  CHECK(polarquant::reverse_index_factory(*built) == "RR8,L2norm,Polar4");
  CHECK(is_ours(*polarquant::clone_index(*built)));
}

}  // namespace
}  // namespace polarquant::test
