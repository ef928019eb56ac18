// SPDX-License-Identifier: MIT
// Codes of few bytes at their limits: rows at and far from centroids, any bytes, threads, and what
// is refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"
#include "src/core/random.h"
#include "src/core/work_progress.h"
#include "tests/codec/few_bytes.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

constexpr Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};
const char* const kSpecs[] = {"PolarB6", "PolarB14", "PolarB6-km7", "PolarB10-km32"};

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

std::vector<float> score_all(const Codec& codec, const PreparedQuery& query,
                             const std::vector<uint8_t>& codes) {
  const auto n = static_cast<int64_t>(codes.size() / codec.layout().group_bytes);
  std::vector<float> scores(static_cast<size_t>(n));
  codec.score(query, {codes.data(), n}, 0, n, scores.data());
  return scores;
}

/// A row `distance` from a centroid or, where there are none, from the centre.
std::vector<float> row_at_distance(const Codec& codec, double distance, uint64_t seed) {
  Random random(seed);
  std::vector<double> direction(kFewDim);
  for (double& value : direction) value = random.normal();
  const double norm = std::sqrt(dot(direction, direction));
  const float* from =
      codec.centroids() != nullptr ? codec.centroids()->row(1) : codec.centre().data();
  std::vector<float> x;
  for (size_t j = 0; j < kFewDim; ++j)
    x.push_back(static_cast<float>(from[j] + distance * direction[j] / norm));
  return x;
}

/// From the least on, each `factor` times the one before, below the most.
std::vector<double> distances_between(double least, double most, double factor) {
  std::vector<double> distances = {least};
  while (distances.back() * factor < most) distances.push_back(distances.back() * factor);
  return distances;
}

}  // namespace

TEST_CASE("codes have the bytes that their name says", "[few-bytes]") {
  for (const Metric metric : kMetrics) {
    CHECK(few_bytes_codec("PolarB6", metric)->layout().bytes(10) == 60);
    CHECK(few_bytes_codec("PolarB14", metric)->layout().bytes(10) == 140);
    CHECK(few_bytes_codec("PolarB10-km32", metric)->layout().bytes(10) == 100);
  }
}

TEST_CASE("more bytes are less error", "[few-bytes]") {
  const std::vector<float> x = lumpy_rows(300, 3);
  for (const Metric metric : kMetrics) {
    double before = INFINITY;
    for (const char* spec : {"PolarB3", "PolarB4", "PolarB6", "PolarB10", "PolarB14"}) {
      CAPTURE(static_cast<int>(metric), spec);
      const double error = squared_error(*few_bytes_codec(spec, metric), x);
      CHECK(error < before);
      before = error;
    }
  }
}

TEST_CASE("a row that is a centroid comes back", "[few-bytes]") {
  for (const Metric metric : kMetrics) {
    const auto codec = few_bytes_codec("PolarB10-km32", metric);
    for (const int number : {0, 5, 31}) {
      CAPTURE(static_cast<int>(metric), number);
      const float* centroid = codec->centroids()->row(number);
      std::vector<float> x(centroid, centroid + kFewDim);
      const std::vector<uint8_t> code = codes_of(*codec, x);
      // A mean of rows of length 1 is shorter, and normalized is no centroid any more.
      if (metric != Metric::cosine) {
        std::vector<uint8_t> expected(code.size());
        expected[codec->quantizer().code_bytes()] = static_cast<uint8_t>(number);
        CHECK(code == expected);
      }
      const std::vector<double> input = as_metric_sees(metric, wide(x));
      const double length = std::sqrt(dot(input, input));
      const double most = metric == Metric::cosine ? .2 : 2e-4;
      for (const Reconstruction kind : {Reconstruction::least_error, Reconstruction::unbiased}) {
        const std::vector<float> decoded = decoded_row(*codec, code, 0, kind);
        for (size_t j = 0; j < kFewDim; ++j)
          REQUIRE(decoded[j] == Approx(input[j]).margin(most * length));
      }
    }
  }
}

TEST_CASE("a row of zeros is coded", "[few-bytes]") {
  const std::vector<float> zero(kFewDim);
  for (const Metric metric : kMetrics) {
    for (const char* spec : kSpecs) {
      CAPTURE(static_cast<int>(metric), spec);
      const auto codec = few_bytes_codec(spec, metric);
      const std::vector<uint8_t> code = codes_of(*codec, zero);
      CHECK(all_finite(decoded_row(*codec, code, 0, Reconstruction::unbiased)));
      const std::vector<float> query = lumpy_rows(1, 9);
      const float score = score_all(*codec, codec->prepare_query(query.data()), code)[0];
      const std::vector<double> q = as_metric_sees(metric, wide(query));
      const double exact = metric == Metric::l2 ? dot(q, q) : 0;
      // Zero is about as far from all points of the rows.
      CHECK(std::fabs(score - exact) < (metric == Metric::cosine ? .6 : .6 * dot(q, q)));
    }
  }
}

TEST_CASE("rows at any distance that is allowed are coded", "[few-bytes]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    for (const char* spec : kSpecs) {
      const auto codec = few_bytes_codec(spec, metric);
      const double least = codec->least_norm();
      const double most = codec->most_norm();
      REQUIRE(least < most);
      for (const double distance : distances_between(least / 8, .99 * most, 1.07)) {
        for (const uint64_t seed : {1, 2, 3}) {
          CAPTURE(static_cast<int>(metric), spec, least, most, distance, seed);
          const std::vector<float> x = row_at_distance(*codec, distance, seed);
          std::vector<uint8_t> code;
          REQUIRE_NOTHROW(code = codes_of(*codec, x));
          REQUIRE(all_finite(decoded_row(*codec, code, 0, Reconstruction::unbiased)));
        }
      }
    }
  }
}

// A direction that those trained on do not have lies in all coordinates, and has less of the coded
// ones than their scales are for.
TEST_CASE("rows of any direction and any distance that is allowed are coded", "[few-bytes]") {
  constexpr int kDim = 256;
  const std::vector<float> rows = spread_rows(1500, kDim, 2, 1);
  const std::vector<float> directions = spread_rows(20, kDim, 0, 2);
  for (const char* spec : {"PolarB8", "PolarB18", "PolarB10-km4"}) {
    Codec codec(parse_spec(spec), kDim, Metric::l2, {});
    codec.train(1500, rows.data());
    const float* from =
        codec.centroids() != nullptr ? codec.centroids()->row(1) : codec.centre().data();
    for (const double distance : distances_between(codec.least_norm(), codec.most_norm(), 1.4)) {
      for (size_t row = 0; row < 20; ++row) {
        const float* direction = &directions[row * kDim];
        const double norm = std::sqrt(
            dot(wide({direction, direction + kDim}), wide({direction, direction + kDim})));
        std::vector<float> x;
        for (size_t j = 0; j < kDim; ++j)
          x.push_back(static_cast<float>(from[j] + .99 * distance * direction[j] / norm));
        CAPTURE(spec, distance, codec.norm_unit(), row);
        std::vector<uint8_t> code(codec.layout().bytes(1));
        REQUIRE_NOTHROW(codec.encode(1, x.data(), code.data(), 1));
      }
    }
  }
}

// Their codes point nearly nowhere: what they have of the coded coordinates is tiny.
TEST_CASE("rows that lie in coordinates without bits are coded", "[few-bytes]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    for (const char* spec : {"PolarB3", "PolarB4", "PolarB4-km7", "PolarB5-km7"}) {
      const auto codec = few_bytes_codec(spec, metric);
      const int coded = codec->planned()->coded_dims();
      REQUIRE(coded < kFewDim);
      const float* from =
          codec->centroids() != nullptr ? codec->centroids()->row(1) : codec->centre().data();
      for (const float distance : {.05F, .2F, 1.0F, 4.0F}) {
        for (const float inside : {0.0F, 1e-6F, 1e-3F, .03F, .1F}) {
          CAPTURE(static_cast<int>(metric), spec, coded, distance, inside, codec->norm_unit());
          std::vector<float> x(kFewDim);
          x[static_cast<size_t>(coded)] = distance;
          x[1] = inside * distance;
          codec->rotation().apply_transpose(x.data());
          for (size_t j = 0; j < kFewDim; ++j) x[j] += from[j];
          std::vector<uint8_t> code;
          REQUIRE_NOTHROW(code = codes_of(*codec, x));
          const auto decoded = decoded_row(*codec, code, 0, Reconstruction::unbiased);
          std::vector<double> error = row_of(x, 0);
          for (size_t j = 0; j < kFewDim; ++j) error[j] -= decoded[j];
          CHECK(dot(error, error) < 16 * std::max(distance * distance, .1F));
        }
      }
    }
  }
}

TEST_CASE("a row too far is refused with its number", "[few-bytes]") {
  for (const Metric metric : {Metric::inner_product, Metric::l2}) {
    for (const char* spec : kSpecs) {
      CAPTURE(static_cast<int>(metric), spec);
      const auto codec = few_bytes_codec(spec, metric);
      std::vector<float> x = lumpy_rows(100, 3);
      std::vector<uint8_t> codes(codec->layout().bytes(100));
      for (size_t j = 0; j < kFewDim; ++j) x[70 * kFewDim + j] *= 1e4F;
      require_error(StatusCode::bad_argument, "x: row 70: its distance to the centre is",
                    [&] { codec->encode(100, x.data(), codes.data(), 2); });
      x[70 * kFewDim + 3] = NAN;
      require_error(StatusCode::bad_argument, "x: row 70 column 3",
                    [&] { codec->encode(100, x.data(), codes.data(), 2); });
    }
  }
  // Cosine takes directions alone.
  const auto codec = few_bytes_codec("PolarB10-km32", Metric::cosine);
  std::vector<float> x = lumpy_rows(1, 3);
  const std::vector<uint8_t> code = codes_of(*codec, x);
  for (float& value : x) value *= 0x1p40F;
  CHECK(codes_of(*codec, x) == code);
}

TEST_CASE("codes of few bytes are the same on any number of threads", "[few-bytes]") {
  const std::vector<float> x = lumpy_rows(300, 3);
  for (const Metric metric : kMetrics) {
    for (const char* spec : kSpecs) {
      CAPTURE(static_cast<int>(metric), spec);
      const auto codec = few_bytes_codec(spec, metric);
      const std::vector<uint8_t> codes = codes_of(*codec, x, 1);
      CHECK(codes_of(*codec, x, 2) == codes);
      CHECK(codes_of(*codec, x, 0) == codes);
      // Row by row, too.
      for (int64_t row = 0; row < 300; row += 37) {
        const std::vector<float> one(x.begin() + row * kFewDim, x.begin() + (row + 1) * kFewDim);
        const std::vector<uint8_t> code = codes_of(*codec, one);
        CHECK(std::equal(code.begin(), code.end(),
                         codes.begin() + row * static_cast<int64_t>(code.size())));
      }
    }
  }
}

TEST_CASE("any bytes are a code of few bytes", "[few-bytes]") {
  constexpr int64_t kCodes = 300;
  const std::vector<float> x = lumpy_rows(1, 3);
  for (const Metric metric : kMetrics) {
    for (const char* spec : kSpecs) {
      CAPTURE(static_cast<int>(metric), spec);
      const auto codec = few_bytes_codec(spec, metric);
      Random random(5);
      std::vector<uint8_t> codes(codec->layout().bytes(kCodes));
      for (uint8_t& byte : codes) byte = static_cast<uint8_t>(random.next());
      const CodeRows rows{codes.data(), kCodes};
      const PreparedQuery query = codec->prepare_query(x.data());
      CHECK(all_finite(score_all(*codec, query, codes)));
      std::vector<float> decoded(kCodes * kFewDim);
      for (const Reconstruction kind : {Reconstruction::least_error, Reconstruction::unbiased}) {
        codec->decode(rows, 0, kCodes, kind, decoded.data());
        CHECK(all_finite(decoded));
      }
      for (int64_t row = 0; row < kCodes; row += 7) {
        CHECK(std::isfinite(codec->score_codes(rows, row, rows, kCodes - 1 - row)));
        CHECK(all_finite(score_all(*codec, codec->prepare_query_from_code(rows, row), codes)));
      }
      std::vector<float> combined(kFewDim);
      codec->combine(rows, std::vector<float>(kCodes, .01F).data(), combined.data());
      CHECK(all_finite(combined));
    }
  }
}

TEST_CASE("a number beyond the centroids counts as the last, for every metric", "[few-bytes]") {
  const std::vector<float> x = lumpy_rows(40, 3);
  for (const Metric metric : kMetrics) {
    CAPTURE(static_cast<int>(metric));
    const auto codec = few_bytes_codec("PolarB10-km32", metric);
    const size_t number_at = codec->quantizer().code_bytes();
    std::vector<uint8_t> last = codes_of(*codec, x);
    for (size_t at = number_at; at < last.size(); at += codec->layout().group_bytes) {
      // The upper half of the second byte is of the scale.
      last[at] = 31;
      last[at + 1] &= 0xF0;
    }
    std::vector<uint8_t> beyond = last;
    for (size_t at = number_at; at < last.size(); at += codec->layout().group_bytes) {
      beyond[at] = 32;
      if (at % 2 == 0) beyond[at + 1] |= 0x0F;
    }
    const PreparedQuery query = codec->prepare_query(x.data());
    CHECK(score_all(*codec, query, beyond) == score_all(*codec, query, last));
    CHECK(decoded_row(*codec, beyond, 3, Reconstruction::unbiased) ==
          decoded_row(*codec, last, 3, Reconstruction::unbiased));
    CHECK(codec->score_codes({beyond.data(), 40}, 1, {beyond.data(), 40}, 2) ==
          codec->score_codes({last.data(), 40}, 1, {last.data(), 40}, 2));
  }
}

TEST_CASE("what codes of few bytes cannot do is refused by name", "[few-bytes]") {
  const std::vector<float> x = lumpy_rows(1000, 1);
  for (const char* spec : {"PolarB6", "PolarB10-km32"}) {
    Codec codec(parse_spec(spec), kFewDim, Metric::l2, {});
    CHECK(!codec.is_trained());
    CHECK(codec.centroids() == nullptr);
    std::vector<uint8_t> code(codec.layout().bytes(1));
    require_error(StatusCode::not_trained, spec,
                  [&] { codec.encode(1, x.data(), code.data(), 1); });
    require_error(StatusCode::not_trained, spec, [&] { codec.drift(1, x.data()); });
  }
  CodecOptions options;
  options.centre = {x.data(), kFewDim};
  require_error(StatusCode::bad_argument, "PolarB10-km32 has centroids in the place of a centre",
                [&] { Codec(parse_spec("PolarB10-km32"), kFewDim, Metric::l2, options); });
  CHECK_NOTHROW(Codec(parse_spec("PolarB10"), kFewDim, Metric::l2, options));

  const auto with_centroids = few_bytes_codec("PolarB10-km32", Metric::l2);
  std::vector<uint8_t> codes(with_centroids->layout().bytes(2));
  require_error(StatusCode::unsupported, "so take PolarB10 there", [&] {
    with_centroids->encode_residuals(
        2, x.data(), [&](int64_t) { return x.data(); }, codes.data(), 1);
  });
}

TEST_CASE("training on too few rows, or stopped, changes nothing", "[few-bytes]") {
  const std::vector<float> x = lumpy_rows(1000, 1);
  Codec codec(parse_spec("PolarB10-km64"), kFewDim, Metric::l2, {});
  const uint64_t before = codec.state_id();
  // One of ten is held out.
  require_error(StatusCode::bad_argument, "126 of the training rows are left",
                [&] { codec.train(140, x.data()); });
  require_error(StatusCode::bad_argument, "-pca at dim 48 needs at least 96", [&] {
    Codec(parse_spec("PolarB10-km2"), kFewDim, Metric::l2, {}).train(95, x.data());
  });
  {
    const std::function<bool(double)> stop = [](double) { return false; };
    const WorkProgress progress(stop, "train");
    require_error(StatusCode::cancelled, "train", [&] { codec.train(1000, x.data()); });
  }
  CHECK(codec.state_id() == before);
  CHECK(!codec.is_trained());
  CHECK(codec.centroids() == nullptr);
  codec.train(143, x.data());
  CHECK(codec.is_trained());
  CHECK(codec.centroids()->count() == 64);
}

TEST_CASE("drift of codes of few bytes tells rows of another kind", "[few-bytes]") {
  const std::vector<float> others = lumpy_rows(400, 3);
  for (const Metric metric : kMetrics) {
    for (const char* spec : kSpecs) {
      CAPTURE(static_cast<int>(metric), spec);
      CHECK(few_bytes_codec(spec, metric)->drift(400, others.data()) == Approx(1).epsilon(.25));
    }
  }
  constexpr int kDim = 128;
  const std::vector<float> rows = spread_rows(1500, kDim, 2, 1);
  for (const char* spec : {"PolarB16", "PolarB16-km8"}) {
    CAPTURE(spec);
    Codec codec(parse_spec(spec), kDim, Metric::l2, {});
    codec.train(1500, rows.data());
    CHECK(codec.drift(300, spread_rows(300, kDim, 2, 2).data()) == Approx(1).epsilon(.15));
    CHECK(codec.drift(300, spread_rows(300, kDim, 0, 2).data()) > 1.3);
    std::vector<float> centre(codec.centre().begin(), codec.centre().end());
    if (codec.centroids() != nullptr) centre = codec.centroids()->rows();
    require_error(StatusCode::bad_argument, "equal the centre",
                  [&] { codec.drift(1, centre.data()); });
    require_error(StatusCode::bad_argument, "n: 0 rows", [&] { codec.drift(0, rows.data()); });
  }
}
