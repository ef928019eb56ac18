// SPDX-License-Identifier: MIT
#include "src/codec/typical_rows.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "tests/codec/clustered_rows.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::gaussian_rows;
using polarquant::test::require_error;
using polarquant::test::spread_rows;

namespace {

constexpr int kDim = 64;

/// The row times `factor`.
void lengthen(std::vector<float>* rows, int64_t row, double factor) {
  for (int j = 0; j < kDim; ++j) {
    float& value = (*rows)[static_cast<size_t>(row * kDim + j)];
    value = static_cast<float>(value * factor);
  }
}

std::unique_ptr<Codec> trained(const char* spec, Metric metric, int64_t n,
                               const std::vector<float>& rows) {
  auto codec = std::make_unique<Codec>(parse_spec(spec), kDim, metric, CodecOptions());
  codec->train(n, rows.data());
  return codec;
}

double norm(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += double{value} * value;
  return std::sqrt(sum);
}

std::vector<float> plain_mean(int64_t n, const std::vector<float>& rows) {
  std::vector<double> sum(kDim);
  for (int64_t i = 0; i < n; ++i)
    for (size_t j = 0; j < kDim; ++j) sum[j] += rows[static_cast<size_t>(i) * kDim + j];
  std::vector<float> mean;
  for (const double value : sum) mean.push_back(static_cast<float>(value / static_cast<double>(n)));
  return mean;
}

double distance(std::span<const float> a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t j = 0; j < b.size(); ++j) sum += std::pow(double{a[j]} - b[j], 2);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("the centre of rows without outliers is their mean, to the bit", "[typical]") {
  for (const double mean_length : {0.0, 1.0, 40.0}) {
    for (const int64_t n : {1, 2, 3, 10, 1700}) {
      const std::vector<float> rows = clustered_rows(n, kDim, mean_length, 5);
      const auto codec = trained("Polar2", Metric::l2, n, rows);
      const std::vector<float> mean = plain_mean(n, rows);
      CAPTURE(mean_length, n);
      CHECK(std::equal(mean.begin(), mean.end(), codec->centre().begin()));
    }
  }
}

TEST_CASE("one row of any length among others moves neither centre nor unit", "[typical]") {
  for (const char* spec : {"Polar4", "Polar2-pca", "PolarScalar4", "PolarPair4x4"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      for (const int64_t n : {50, 3000}) {
        if (std::string(spec) == "Polar2-pca" && n < 2 * kDim) continue;
        const std::vector<float> rows = clustered_rows(n, kDim, 4, 6);
        const auto expected = trained(spec, metric, n, rows);
        for (const double factor : {1e4, 1e6, 1e12, 1e16}) {
          std::vector<float> with_long = rows;
          lengthen(&with_long, 17, factor);
          const auto codec = trained(spec, metric, n, with_long);
          CAPTURE(spec, static_cast<int>(metric), n, factor);
          CHECK(codec->norm_unit() == expected->norm_unit());
          const std::vector<float> centre(expected->centre().begin(), expected->centre().end());
          CHECK(distance(codec->centre(), centre) < 20.0 / static_cast<double>(n));
        }
      }
    }
  }
}

TEST_CASE("rows of two scales keep a centre that is of use to most", "[typical]") {
  // A third of them a thousand times as long: a mean of all is far from the others.
  std::vector<float> rows = gaussian_rows(900, kDim, 7);
  for (int64_t i = 0; i < 900; i += 3) lengthen(&rows, i, 1e3);
  CHECK(norm(trained("Polar2", Metric::l2, 900, rows)->centre()) == 0);
}

TEST_CASE("near-equal rows among others, or alone, are trained on", "[typical]") {
  for (const int64_t near_equal : {20, 150, 185, 200}) {
    std::vector<float> rows = gaussian_rows(200, kDim, 8);
    for (int64_t i = 1; i < near_equal; ++i)
      for (size_t j = 0; j < kDim; ++j)
        rows[static_cast<size_t>(i) * kDim + j] =
            rows[j] * (1 + 1e-6F * rows[static_cast<size_t>(i) * kDim + j]);
    CAPTURE(near_equal);
    const auto codec = trained("Polar4", Metric::l2, 200, rows);
    // Their mean is taken as long as a tenth of them is of the others.
    const std::vector<float> mean = plain_mean(200, rows);
    CHECK((distance(codec->centre(), mean) == 0) == (near_equal != 185));
    CHECK(trained("Polar2-pca", Metric::l2, 200, rows)->is_trained());
  }
}

TEST_CASE("rows of any size give a unit", "[typical]") {
  for (const auto& [size, unit] : {std::pair{1e-30, 0x1p-40}, {1e-13, 0x1p-40}, {1e15, 0x1p40}}) {
    std::vector<float> rows = gaussian_rows(300, kDim, 9);
    for (int64_t i = 0; i < 300; ++i) lengthen(&rows, i, size);
    CAPTURE(size);
    CHECK(trained("Polar4", Metric::l2, 300, rows)->norm_unit() == unit);
  }
}

TEST_CASE("training rows too long for scores are refused by name, but for cosine", "[typical]") {
  std::vector<float> rows = gaussian_rows(200, kDim, 10);
  lengthen(&rows, 31, 1e18);
  require_error(StatusCode::bad_argument, "x: row 31: its length is",
                [&] { trained("Polar2", Metric::l2, 200, rows); });
  require_error(StatusCode::bad_argument, "up to 2.30584e+18 is allowed",
                [&] { trained("PolarScalar4", Metric::inner_product, 200, rows); });
  CHECK(trained("Polar2", Metric::cosine, 200, rows)->norm_unit() == 1);
}

TEST_CASE("margins are measured without rows far beyond the others", "[typical]") {
  std::vector<float> rows = spread_rows(1000, kDim * 3, 1.5, 11);
  for (size_t j = 0; j < kDim * 3; ++j) rows[500 * kDim * 3 + j] *= 1e8F;
  Codec codec(parse_spec("Polar2-pca"), kDim * 3, Metric::l2, {});
  int64_t measured = 0;
  codec.train(1000, rows.data(), [&](Codec&, int64_t n, const float* x) {
    measured = n;
    CHECK(std::equal(x, x + kDim * 3, rows.begin()));
    CHECK(std::equal(x + 500 * kDim * 3, x + 501 * kDim * 3, rows.begin() + 501 * kDim * 3));
    return SearchMargins{2, 2};
  });
  REQUIRE(codec.has_basis());
  CHECK(measured == 999);
}
