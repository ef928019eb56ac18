// SPDX-License-Identifier: MIT
// What margins are measured on rows of different kinds, and what searches lose with them.
#include "src/scan/search/measure_margins.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "src/core/call_threads.h"
#include "src/core/random.h"
#include "src/scan/search/row_filter.h"
#include "src/scan/stores/row_store.h"
#include "src/simd/simd_codec_kernels.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"

namespace polarquant::test {
namespace {

constexpr int kDim = 192;

/// Exponential numbers, less of each next one: no row is near another in all directions, and rows
/// of large inner products are those far from the centre.
std::vector<float> skewed_rows(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(static_cast<size_t>(n) * kDim);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<float>(-std::log(1 - random.uniform()) *
                                 std::pow(1 + static_cast<double>(i % kDim), -.5));
  return rows;
}

std::unique_ptr<Codec> trained(const std::string& spec, Metric metric,
                               const std::vector<float>& rows, const MeasureMargins& measure) {
  auto codec = std::make_unique<Codec>(parse_spec(spec), kDim, metric, CodecOptions());
  codec->use_kernels(simd_codec_kernels());
  codec->train(static_cast<int64_t>(rows.size()) / kDim, rows.data(), measure);
  return codec;
}

/// The share of the ten nearest by all scores that a search at default exactness does not find.
double lost_share(const Codec& codec, const std::vector<float>& rows,
                  const std::vector<float>& queries) {
  constexpr int64_t kBest = 10;
  const auto store = RowStore::make(codec);
  store->append(codec, static_cast<int64_t>(rows.size()) / kDim, rows.data(), 0);
  const int64_t nq = static_cast<int64_t>(queries.size()) / kDim;
  const auto search = [&](float exactness) {
    std::vector<float> scores(static_cast<size_t>(nq * kBest));
    std::vector<int64_t> ids(scores.size());
    store->search(codec,
                  {.nq = nq,
                   .queries = queries.data(),
                   .goal = SearchGoal::best(kBest),
                   .options = {.exactness = exactness}},
                  {scores.data(), ids.data()});
    return ids;
  };
  const std::vector<int64_t> all = search(kScoreEveryRow);
  const std::vector<int64_t> found = search(kDefaultExactness);
  double lost = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto first = found.begin() + static_cast<ptrdiff_t>(i / kBest * kBest);
    if (std::find(first, first + kBest, all[i]) == first + kBest) ++lost;
  }
  return lost / static_cast<double>(all.size());
}

}  // namespace

TEST_CASE("measured margins keep what margins for any rows lose", "[scan][margins]") {
  const std::vector<float> rows = skewed_rows(6000, 1);
  const std::vector<float> queries = skewed_rows(300, 2);
  const auto without = trained("Polar4-pca", Metric::inner_product, rows, {});
  const auto with = trained("Polar4-pca", Metric::inner_product, rows, measure_margins);
  REQUIRE(with->has_basis());
  CHECK(with->search_margins().next > 1.2F);
  const double lost_without = lost_share(*without, rows, queries);
  const double lost = lost_share(*with, rows, queries);
  CAPTURE(with->search_margins().sketch, with->search_margins().next, lost_without, lost);
  CHECK(lost_without > .008);
  CHECK(lost < .004);
}

TEST_CASE("rows with a few long axes take no larger margins", "[scan][margins]") {
  const std::vector<float> rows = spread_rows(6000, kDim, 2, 1);
  const std::vector<float> queries = spread_rows(300, kDim, 2, 2);
  for (const Metric metric : {Metric::inner_product, Metric::l2, Metric::cosine}) {
    const auto codec = trained("Polar3-pca", metric, rows, measure_margins);
    REQUIRE(codec->has_basis());
    const SearchMargins& margins = codec->search_margins();
    const double lost = lost_share(*codec, rows, queries);
    CAPTURE(static_cast<int>(metric), margins.sketch, margins.next, lost);
    CHECK(margins.sketch < 1.1F);
    CHECK(margins.next < 1.1F);
    CHECK(lost < .004);
  }
}

TEST_CASE("margins are measured alike by any number of threads", "[scan][margins]") {
  const std::vector<float> rows = skewed_rows(1500, 3);
  std::vector<SearchMargins> measured;
  for (const int some : {1, 3}) {
    const CallThreads call_threads(some);
    measured.push_back(trained("Polar2-pca", Metric::l2, rows, measure_margins)->search_margins());
  }
  CHECK(measured[0] != SearchMargins{});
  CHECK(measured[0] == measured[1]);
}

TEST_CASE("margins are 1 where there are no bounds or too few rows", "[scan][margins]") {
  const std::vector<float> rows = spread_rows(1000, kDim, 2, 1);
  const auto measured = [&](const std::string& spec, int64_t n) {
    const auto codec = trained(spec, Metric::l2, rows, {});
    return measure_margins(*codec, n, rows.data());
  };
  CHECK(measured("Polar2", 1000) == SearchMargins{});
  CHECK(measured("PolarScalar4", 1000) == SearchMargins{});
  CHECK(measured("Polar2-pca", 511) == SearchMargins{});
}

TEST_CASE("a row far out changes margins no more than one less does", "[scan][margins]") {
  std::vector<float> rows = skewed_rows(1500, 4);
  const SearchMargins expected =
      trained("Polar2-pca", Metric::l2, rows, measure_margins)->search_margins();
  for (int j = 0; j < kDim; ++j) rows[static_cast<size_t>(700 * kDim + j)] *= 1e9F;
  const auto codec = trained("Polar2-pca", Metric::l2, rows, measure_margins);
  REQUIRE(codec->has_basis());
  CHECK(std::fabs(codec->search_margins().sketch / expected.sketch - 1) < .05);
  CHECK(std::fabs(codec->search_margins().next / expected.next - 1) < .05);
  std::vector<uint8_t> code(codec->layout().bytes(1));
  codec->encode(1, &rows[700 * kDim], code.data(), 1);
}

}  // namespace polarquant::test
