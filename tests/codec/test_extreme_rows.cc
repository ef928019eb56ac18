// SPDX-License-Identifier: MIT
// Rows of any length are coded at any time, whatever the state was learned from.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "tests/codec/clustered_rows.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::gaussian_rows;
using polarquant::test::require_error;

namespace {

const char* const kSpecs[] = {"Polar0.5",       "Polar1",          "Polar2",
                              "Polar4",         "Polar5",          "Polar8",
                              "Polar2+2",       "Polar4+2",        "Polar2-pca",
                              "PolarTree4.2.2", "PolarScalar4",    "PolarTree4.2-online",
                              "PolarPair4x4",   "PolarPair4x4g128"};
const Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
constexpr int kDim = 72;

double dot(const float* a, const float* b) {
  double sum = 0;
  for (int j = 0; j < kDim; ++j) sum += static_cast<double>(a[j]) * b[j];
  return sum;
}

double norm(const float* a) { return std::sqrt(dot(a, a)); }

std::unique_ptr<Codec> trained(const char* spec, Metric metric, const std::vector<float>& rows) {
  auto codec = std::make_unique<Codec>(parse_spec(spec), kDim, metric, CodecOptions());
  codec->train(std::ssize(rows) / kDim, rows.data());
  return codec;
}

std::vector<uint8_t> coded(const Codec& codec, const std::vector<float>& rows) {
  const int64_t n = std::ssize(rows) / kDim;
  std::vector<uint8_t> codes(codec.layout().bytes(n));
  codec.encode(n, rows.data(), codes.data(), 1);
  return codes;
}

}  // namespace

TEST_CASE("a row of any length decodes and scores as nearly as one of the usual length",
          "[extreme]") {
  const std::vector<float> rows = clustered_rows(200, kDim, 3, 1);
  for (const char* spec : kSpecs) {
    // A group's radii are relative to the longest one.
    if (std::string(spec) == "PolarPair4x4g128") continue;
    for (const Metric metric : kMetrics) {
      const auto codec = trained(spec, metric, rows);
      const std::vector<float> query = clustered_rows(1, kDim, 3, 2);
      for (const double size : {1e-30, 1e-20, 1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12, 1e17}) {
        // PolarPair keeps radii up to the largest in training.
        if (size > 1 && std::string(spec) == "PolarPair4x4") continue;
        std::vector<float> x = gaussian_rows(1, kDim, 3);
        for (float& value : x) value = static_cast<float>(value * size);
        std::vector<float> row = x;
        // Small ones are near the centre.
        for (int j = 0; j < kDim && size < 1; ++j) row[j] += codec->centre()[j];
        const std::vector<uint8_t> code = coded(*codec, row);
        std::vector<float> decoded(kDim);
        codec->decode({code.data(), 1}, 0, 1, Reconstruction::least_error, decoded.data());
        float score = 0;
        codec->score(codec->prepare_query(query.data()), {code.data(), 1}, 0, 1, &score);
        const float* q = query.data();
        const double length = norm(q) + norm(row.data());
        double exact = metric == Metric::l2
                           ? dot(q, q) - 2 * dot(q, row.data()) + dot(row.data(), row.data())
                           : dot(q, row.data());
        double most = .6 * norm(q) * norm(x.data()) + 1e-5 * length * length;
        if (metric == Metric::l2) most += .01 * dot(x.data(), x.data());
        if (metric == Metric::cosine) {
          exact = row == std::vector<float>(kDim) ? 0 : exact / norm(q) / norm(row.data());
          most = .6;
        }
        CAPTURE(spec, static_cast<int>(metric), size, score, exact);
        REQUIRE(std::isfinite(score));
        REQUIRE(std::fabs(score - exact) <= most);
        if (metric == Metric::cosine || std::string(spec) == "PolarPair4x4") continue;
        std::vector<float> error(kDim);
        for (int j = 0; j < kDim; ++j) error[j] = decoded[j] - row[j];
        // Shorter ones than the unit's resolution are 0.
        REQUIRE(norm(error.data()) <=
                .9 * norm(x.data()) + 1e-6 * norm(row.data()) + 0x1p-60 * codec->norm_unit());
      }
    }
  }
}

TEST_CASE("lengths keep their order over sixty decades", "[extreme]") {
  const std::vector<float> rows = clustered_rows(200, kDim, 0, 1);
  for (const char* spec : {"Polar2", "Polar4", "Polar8", "PolarScalar4", "PolarTree4.2.2"}) {
    const auto codec = trained(spec, Metric::l2, rows);
    // Along a direction away from the query, whose distance then only grows.
    float before = -1;
    for (double size = 1e-3; size < 1e18; size *= 3) {
      std::vector<float> row(kDim, static_cast<float>(size / std::sqrt(kDim)));
      const std::vector<uint8_t> code = coded(*codec, row);
      std::vector<float> query(kDim, -1.0F);
      float score = 0;
      codec->score(codec->prepare_query(query.data()), {code.data(), 1}, 0, 1, &score);
      CAPTURE(spec, size, score, before);
      REQUIRE(std::isfinite(score));
      REQUIRE(score > before * .9F);
      before = score;
    }
  }
}

TEST_CASE("after near-equal first rows every ordinary row is coded", "[extreme]") {
  std::vector<float> first = gaussian_rows(100, kDim, 4);
  for (size_t i = kDim; i < first.size(); ++i) first[i] = first[i % kDim] * (1 + 1e-6F * first[i]);
  const std::vector<float> rows = gaussian_rows(128, kDim, 5);
  for (const char* spec : kSpecs) {
    if (std::string(spec) == "Polar2-pca") continue;  // of 144 rows and more
    for (const Metric metric : kMetrics) {
      const auto codec = trained(spec, metric, first);
      CAPTURE(spec, static_cast<int>(metric), codec->norm_unit());
      const std::vector<uint8_t> codes = coded(*codec, rows);
      std::vector<float> scores(128);
      codec->score(codec->prepare_query(rows.data()), {codes.data(), 128}, 0, 128, scores.data());
      for (const float score : scores) REQUIRE(std::isfinite(score));
      REQUIRE(coded(*codec, first).size() > 0);
    }
  }
}

TEST_CASE("the mean of the rows, and rows near it, are coded as near it", "[extreme]") {
  const std::vector<float> rows = clustered_rows(3000, kDim, 10, 6);
  for (const char* spec : {"Polar2", "Polar4", "Polar8", "Polar2-pca"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const auto codec = trained(spec, metric, rows);
      std::vector<double> sum(kDim);
      for (size_t i = 0; i < rows.size(); ++i) sum[i % kDim] += rows[i];
      for (const double away : {0.0, 1e-7, 1e-6, 1e-4}) {
        std::vector<float> row;
        for (const double column : sum)
          row.push_back(static_cast<float>(column / 3000 * (1 + away)));
        const std::vector<uint8_t> code = coded(*codec, row);
        float score = 0;
        codec->score(codec->prepare_query(row.data()), {code.data(), 1}, 0, 1, &score);
        const double length2 = dot(row.data(), row.data());
        CAPTURE(spec, static_cast<int>(metric), away, score);
        const double expected = metric == Metric::l2 ? 0 : length2;
        REQUIRE(std::fabs(score - expected) <= 1e-5 * length2);
      }
    }
  }
}

TEST_CASE("rows too long for scores are refused by name, whatever the unit", "[extreme]") {
  for (const double unit : {0x1p-40, 1.0, 0x1p40}) {
    CodecOptions options;
    options.norm_unit = unit;
    for (const char* spec : {"Polar2", "Polar8", "PolarScalar4", "PolarPair4x4g128"}) {
      const Codec codec(parse_spec(spec), kDim, Metric::l2, options);
      std::vector<float> rows = gaussian_rows(3, kDim, 7);
      rows[2 * kDim] = 3e18F;
      CAPTURE(unit, spec);
      require_error(StatusCode::bad_argument,
                    "x: row 2: its distance to the centre is 3e+18; up to",
                    [&] { coded(codec, rows); });
      rows[2 * kDim] = std::numeric_limits<float>::max();
      require_error(StatusCode::bad_argument, "x: row 2: its distance to the centre is 3.40282e+38",
                    [&] { coded(codec, rows); });
      rows[2 * kDim] = 1e6F;
      CHECK(coded(codec, rows).size() == codec.layout().bytes(3));
    }
    // Normalized rows have no such length.
    const Codec cosine(parse_spec("Polar2"), kDim, Metric::cosine, options);
    std::vector<float> rows = gaussian_rows(3, kDim, 7);
    for (float& value : rows) value *= 1e37F;
    CHECK(coded(cosine, rows).size() == cosine.layout().bytes(3));
  }
}

TEST_CASE("the longest rows and queries score as finite numbers", "[extreme]") {
  for (const char* spec : {"Polar0.5", "Polar2", "Polar4+2", "Polar8", "PolarScalar4"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      std::vector<float> centre(kDim, static_cast<float>(.9 * 0x1p62 / std::sqrt(kDim)));
      for (const bool has_centre : {false, true}) {
        CodecOptions options;
        options.norm_unit = 0x1p40;
        if (has_centre) options.centre = centre;
        const Codec codec(parse_spec(spec), kDim, metric, options);
        const std::vector<float> away = gaussian_rows(1, kDim, 8);
        for (const double sign : {1.0, -1.0}) {
          std::vector<float> row(kDim);
          std::vector<float> query(kDim);
          for (int j = 0; j < kDim; ++j) {
            const double direction = away[j] / norm(away.data());
            row[j] = static_cast<float>(codec.centre()[j] + direction * .99 * kMaxRowNorm);
            query[j] = static_cast<float>(direction * sign * .99 * 0x1p63);
          }
          const std::vector<uint8_t> code = coded(codec, row);
          float score = 0;
          codec.score(codec.prepare_query(query.data()), {code.data(), 1}, 0, 1, &score);
          CAPTURE(spec, static_cast<int>(metric), has_centre, sign, score);
          REQUIRE(std::isfinite(score));
        }
      }
    }
  }
}
