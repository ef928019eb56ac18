// SPDX-License-Identifier: MIT
// Codes about the nearest of many centroids: what they decode to, and every score against the
// expressions of src/codec/centroids.h in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/random.h"
#include "tests/codec/few_bytes.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
constexpr CentroidFactors kBothFactors[] = {CentroidFactors::exact, CentroidFactors::balanced};

/// What a code stands for, by its parts: C, ŷ = s·Rᵀû, and t or n.
struct Parts {
  int centroid;
  std::vector<double> c;
  std::vector<double> y;
  double scale;
  double bias;
  double least_error_gain;  // of ŷ

  Parts(const Codec& codec, CodeRows codes, int64_t row) {
    const auto dim = static_cast<size_t>(codec.dim());
    const uint8_t* code = codes.data + static_cast<size_t>(row) * codec.layout().group_bytes;
    std::vector<float> decoded(dim);
    codec.quantizer().decode(code, 0, decoded.data());
    codec.rotation().apply_transpose(decoded.data());
    const Factors factors =
        load_factors(codec.factor_format(), code + codec.quantizer().code_bytes());
    centroid = factors.centroid;
    scale = factors.scale;
    bias = factors.bias;
    least_error_gain = 1 - codec.mse();
    if (codec.spec().centroid_factors == CentroidFactors::balanced) {
      const std::vector<double> direction = wide(decoded);
      const double length = std::sqrt(dot(direction, direction) / codec.dim());
      least_error_gain = std::sqrt(least_error_gain * length);
    }
    const float* from = codec.centroids()->row(centroid);
    c.assign(from, from + dim);
    for (const float value : decoded) y.push_back(double{factors.scale} * value);
  }

  /// The vector whose inner products are unbiased.
  std::vector<double> vector(Metric metric) const {
    std::vector<double> x;
    const double gain = metric == Metric::l2 ? 1 : 1 + bias;
    for (size_t j = 0; j < c.size(); ++j) x.push_back(gain * c[j] + y[j]);
    return x;
  }
  /// The squared length that L2 distances take it to have.
  double norm2() const { return dot(c, c) + bias; }
};

}  // namespace

TEST_CASE("few bytes say more about centroids than about a mean", "[centroids]") {
  const std::vector<float> others = lumpy_rows(300, 3);
  for (const Metric metric : kMetrics) {
    CAPTURE(static_cast<int>(metric));
    const auto with_mean = few_bytes_codec("PolarB10", metric);
    const auto with_centroids = few_bytes_codec("PolarB10-km32", metric);
    CHECK(with_centroids->layout().group_bytes == with_mean->layout().group_bytes);
    const double error = squared_error(*with_centroids, others);
    CHECK(error < .6 * squared_error(*with_mean, others));
    // Two of its bytes are for the number; it is better by those, too.
    CHECK(error < .8 * squared_error(*few_bytes_codec("PolarB8-km2", metric), others));
  }
}

TEST_CASE("the code has the nearest centroid's number", "[centroids]") {
  const std::vector<float> x = lumpy_rows(200, 3);
  for (const Metric metric : kMetrics) {
    const auto codec = few_bytes_codec("PolarB10-km32", metric);
    REQUIRE(codec->centroids() != nullptr);
    REQUIRE(codec->centroids()->count() == 32);
    const std::vector<uint8_t> codes = codes_of(*codec, x);
    for (int64_t row = 0; row < 200; ++row) {
      const int number = Parts(*codec, {codes.data(), 200}, row).centroid;
      const std::vector<double> input = as_metric_sees(metric, row_of(x, row));
      const auto distance_to = [&](int i) {
        const std::vector<double> c(codec->centroids()->row(i),
                                    codec->centroids()->row(i) + kFewDim);
        return dot(c, c) - 2 * dot(c, input);
      };
      for (int i = 0; i < 32; ++i) REQUIRE(distance_to(number) <= distance_to(i) + 1e-4);
    }
  }
}

TEST_CASE("exact factors: a row's inner product with its centroid is exact but for 8 bits of t",
          "[centroids]") {
  const std::vector<float> x = lumpy_rows(200, 3);
  for (const Metric metric : {Metric::inner_product, Metric::cosine}) {
    CAPTURE(static_cast<int>(metric));
    const auto codec = few_bytes_codec("PolarB10-km32", metric, CentroidFactors::exact);
    const std::vector<uint8_t> codes = codes_of(*codec, x);
    double with = 0;
    double without = 0;
    for (int64_t row = 0; row < 200; ++row) {
      const Parts parts(*codec, {codes.data(), 200}, row);
      const std::vector<float> decoded = decoded_row(*codec, codes, row, Reconstruction::unbiased);
      const double exact = dot(parts.c, as_metric_sees(metric, row_of(x, row)));
      const double norm2 = dot(parts.c, parts.c);
      const double error = std::fabs(dot(parts.c, wide(decoded)) - exact);
      // Half a step of the mantissa's 3 bits, or half the least number.
      const double step = std::max(std::fabs(parts.bias) * 0x1p-4, 0x1p-8);
      REQUIRE(error <= norm2 * (step + 1e-3));
      with += error * error;
      without += std::pow(norm2 + dot(parts.c, parts.y) - exact, 2);
    }
    CHECK(with < .1 * without);
  }
}

TEST_CASE("exact factors: L2 distances have the row's distance to its centroid exactly",
          "[centroids]") {
  const std::vector<float> x = lumpy_rows(200, 3);
  const auto codec = few_bytes_codec("PolarB10-km32", Metric::l2, CentroidFactors::exact);
  const std::vector<uint8_t> codes = codes_of(*codec, x);
  double with = 0;
  double without = 0;
  for (int64_t row = 0; row < 200; ++row) {
    const Parts parts(*codec, {codes.data(), 200}, row);
    std::vector<double> e = row_of(x, row);
    for (size_t j = 0; j < e.size(); ++j) e[j] -= parts.c[j];
    // ‖C‖² + n − 2⟨C, C + ŷ⟩ + ‖C‖² is the estimate of ‖C − x‖².
    const double error = std::fabs(parts.bias - 2 * dot(parts.c, parts.y) - dot(e, e));
    const double step =
        std::max(std::fabs(parts.bias) * 0x1p-4, 0x1p-6 * double{codec->factor_format().bias_unit});
    REQUIRE(error <= step + 1e-3 * dot(parts.c, parts.c));
    std::vector<float> centroid(parts.c.begin(), parts.c.end());
    float score = 0;
    codec->score(codec->prepare_query(centroid.data()), {codes.data(), 200}, row, 1, &score);
    REQUIRE(score == Approx(dot(e, e)).margin(step + 2e-3 * dot(parts.c, parts.c)));
    with += error * error;
    without += std::pow(2 * dot(parts.c, parts.y), 2);
  }
  CHECK(with < without);
}

TEST_CASE("balanced factors: s is between the two it could be, and t or n keep a share",
          "[centroids]") {
  constexpr int64_t kRows = 400;
  const std::vector<float> x = lumpy_rows(kRows, 3);
  for (const Metric metric : kMetrics) {
    CAPTURE(static_cast<int>(metric));
    const auto codec = few_bytes_codec("PolarB10-km32", metric);
    const FactorFormat& format = codec->factor_format();
    REQUIRE(format.form == FactorForm::centroid24);
    const std::vector<uint8_t> codes = codes_of(*codec, x);
    int beyond = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      CAPTURE(row);
      const Parts parts(*codec, {codes.data(), kRows}, row);
      std::vector<double> e = as_metric_sees(metric, row_of(x, row));
      for (size_t j = 0; j < e.size(); ++j) e[j] -= parts.c[j];
      const double norm2 = dot(e, e);
      // In units of s; rotated, since only the first coordinates have bits.
      std::vector<double> direction = parts.y;
      for (double& value : direction) value /= parts.scale;
      std::vector<float> coded(e.begin(), e.end());
      codec->rotation().apply(coded.data());
      std::fill(coded.begin() + codec->quantizer().scaled_dims(kFewDim), coded.end(), 0.0F);
      const double coded2 = dot(wide(coded), wide(coded));
      const double exact = coded2 / dot(e, direction);
      const double keeps_length = std::sqrt(norm2 / dot(direction, direction));
      // Half a step of the mantissa's 3 bits.
      REQUIRE(parts.scale == Approx(std::sqrt(exact * keeps_length)).epsilon(.07));

      const double unseen = dot(parts.c, e) - dot(parts.c, parts.y);
      const double norm2_of_c = dot(parts.c, parts.c);
      const double wanted = metric == Metric::l2
                                ? norm2 + 2 * dot(parts.c, e) - 2 * kBalancedShare * unseen
                                : kBalancedShare * unseen / norm2_of_c;
      const double square = format.shares.square;
      const double step = parts.scale * double{format.shares.step};
      if (metric != Metric::l2) REQUIRE(square == 0);
      if (std::fabs(wanted - square * parts.scale * parts.scale) >
          kCentroid24.most_share() * step) {
        ++beyond;
      } else {
        REQUIRE(std::fabs(parts.bias - wanted) <= .51 * step);
      }
    }
    // The step is such that one row of 16,000 is, of normal ones.
    CHECK(beyond < kRows / 50);
  }
}

TEST_CASE("more than 4,096 centroids have longer numbers and finer factors", "[centroids]") {
  Spec spec = parse_spec("PolarB10-km4096");
  CHECK(factor_bytes_of(spec) == 3);
  CHECK(factor_form_of(spec) == FactorForm::centroid24);
  spec.centroids = 4097;
  CHECK(factor_bytes_of(spec) == 4);
  CHECK(factor_form_of(spec) == FactorForm::centroid32);
  spec.centroid_factors = CentroidFactors::exact;
  CHECK(factor_bytes_of(spec) == 4);
  CHECK(factor_form_of(spec) == FactorForm::float8);
}

TEST_CASE("decode and score say what a code's parts do", "[centroids]") {
  const std::vector<float> x = lumpy_rows(100, 3);
  const std::vector<float> queries = lumpy_rows(5, 4);
  for (const Metric metric : kMetrics) {
    for (const auto& [spec, factors] : {std::pair("PolarB10-km32", CentroidFactors::balanced),
                                        std::pair("PolarB6-km7", CentroidFactors::balanced),
                                        std::pair("PolarB16-km2", CentroidFactors::balanced),
                                        std::pair("PolarB10-km32", CentroidFactors::exact)}) {
      CAPTURE(static_cast<int>(metric), spec, static_cast<int>(factors));
      const auto codec = few_bytes_codec(spec, metric, factors);
      const std::vector<uint8_t> codes = codes_of(*codec, x);
      for (int64_t row = 0; row < 100; ++row) {
        const Parts parts(*codec, {codes.data(), 100}, row);
        const std::vector<double> expected = parts.vector(metric);
        const auto unbiased = decoded_row(*codec, codes, row, Reconstruction::unbiased);
        const auto least_error = decoded_row(*codec, codes, row, Reconstruction::least_error);
        const double length = std::sqrt(dot(expected, expected));
        for (size_t j = 0; j < expected.size(); ++j) {
          // R is of 15 bits a number.
          REQUIRE(unbiased[j] == Approx(expected[j]).margin(2e-4 * length));
          REQUIRE(least_error[j] ==
                  Approx(parts.c[j] + parts.least_error_gain * parts.y[j]).margin(2e-4 * length));
        }
        for (int64_t q = 0; q < 5; ++q) {
          const std::vector<float> query(queries.begin() + q * kFewDim,
                                         queries.begin() + (q + 1) * kFewDim);
          float score = 0;
          codec->score(codec->prepare_query(query.data()), {codes.data(), 100}, row, 1, &score);
          const std::vector<double> input = as_metric_sees(metric, wide(query));
          double exact = dot(input, expected);
          if (metric == Metric::l2) exact = dot(input, input) + parts.norm2() - 2 * exact;
          const double lengths = std::sqrt(dot(input, input)) * length;
          REQUIRE(score == Approx(exact).margin(1e-3 * lengths));
        }
      }
    }
  }
}

TEST_CASE("scores between codes are symmetric, and those of their vectors", "[centroids]") {
  constexpr int64_t kRows = 40;
  const std::vector<float> x = lumpy_rows(kRows, 3);
  for (const auto factors : kBothFactors)
    for (const Metric metric : kMetrics) {
      CAPTURE(static_cast<int>(metric), static_cast<int>(factors));
      const auto codec = few_bytes_codec("PolarB10-km32", metric, factors);
      const std::vector<uint8_t> codes = codes_of(*codec, x);
      const CodeRows all{codes.data(), kRows};
      for (int64_t a = 0; a < kRows; ++a) {
        const Parts parts_a(*codec, all, a);
        const PreparedQuery query = codec->prepare_query_from_code(all, a);
        std::vector<float> scores(kRows);
        codec->score(query, all, 0, kRows, scores.data());
        for (int64_t b = 0; b < kRows; ++b) {
          CAPTURE(a, b);
          const Parts parts_b(*codec, all, b);
          double exact = dot(parts_a.vector(metric), parts_b.vector(metric));
          const double lengths = std::sqrt(dot(parts_a.vector(metric), parts_a.vector(metric)) *
                                           dot(parts_b.vector(metric), parts_b.vector(metric)));
          if (metric == Metric::l2) exact = parts_a.norm2() + parts_b.norm2() - 2 * exact;
          const float score = codec->score_codes(all, a, all, b);
          REQUIRE(score == codec->score_codes(all, b, all, a));
          REQUIRE(score == Approx(exact).margin(1e-3 * lengths));
          // A code that is taken for a query is its vector.
          REQUIRE(scores[static_cast<size_t>(b)] == Approx(exact).margin(1e-3 * lengths));
        }
      }
    }
}

TEST_CASE("combine is the weighted sum of decoded rows about centroids", "[centroids]") {
  const std::vector<float> x = lumpy_rows(30, 3);
  for (const Metric metric : kMetrics) {
    const auto codec = few_bytes_codec("PolarB10-km32", metric);
    const std::vector<uint8_t> codes = codes_of(*codec, x);
    std::vector<float> weights;
    for (int row = 0; row < 30; ++row) weights.push_back(.1F * static_cast<float>(row % 7 - 2));
    std::vector<double> expected(kFewDim);
    for (int64_t row = 0; row < 30; ++row) {
      const auto decoded = decoded_row(*codec, codes, row, Reconstruction::least_error);
      for (size_t j = 0; j < kFewDim; ++j)
        expected[j] += double{weights[static_cast<size_t>(row)]} * decoded[j];
    }
    std::vector<float> combined(kFewDim);
    codec->combine({codes.data(), 30}, weights.data(), combined.data());
    for (size_t j = 0; j < kFewDim; ++j)
      REQUIRE(combined[j] == Approx(expected[j]).margin(1e-4 * std::sqrt(kFewDim)));
  }
}
