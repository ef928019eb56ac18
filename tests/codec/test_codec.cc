// SPDX-License-Identifier: MIT
// Scores, reconstructions and sums of a codec against the formulas of docs/codec.md, written out
// here in double precision, for every codec and metric.
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/random.h"
#include "tests/codec/clustered_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::require_error;

namespace {

const char* const kSpecs[] = {"Polar0.5",
                              "Polar1",
                              "Polar2",
                              "Polar3.5",
                              "Polar4",
                              "Polar5",
                              "Polar8",
                              "Polar2+2",
                              "Polar4+2",
                              "Polar2-dense",
                              "Polar3-norot",
                              "PolarTree4.2.2",
                              "PolarTree4.2-online",
                              "PolarPair4x4",
                              "PolarPair4x4g128",
                              "PolarScalar4"};
const Metric kMetrics[] = {Metric::inner_product, Metric::l2, Metric::cosine};

struct Coded {
  std::unique_ptr<Codec> codec;
  std::vector<float> rows;
  std::vector<uint8_t> codes;
  int64_t n;
  CodeRows view() const { return {codes.data(), n}; }
  const float* row(int64_t i) const { return &rows[i * codec->dim()]; }
};

Coded code_rows(const char* spec, Metric metric, int dim, int64_t n, std::vector<float> rows) {
  Coded coded;
  coded.codec = std::make_unique<Codec>(parse_spec(spec), dim, metric, CodecOptions{});
  coded.n = n;
  coded.rows = std::move(rows);
  coded.codec->train(n, coded.rows.data());
  coded.codes.resize(coded.codec->layout().bytes(n));
  coded.codec->encode(n, coded.rows.data(), coded.codes.data(), 1);
  return coded;
}

double dot(const float* a, const float* b, int dim) {
  return std::inner_product(a, a + dim, b, 0.0, std::plus<>(),
                            [](float x, float y) { return static_cast<double>(x) * y; });
}

double norm(const float* a, int dim) { return std::sqrt(dot(a, a, dim)); }

std::vector<float> normalized(const float* x, int dim) {
  std::vector<float> out(x, x + dim);
  const double length = norm(x, dim);
  if (length > 0) {
    for (float& value : out) value = static_cast<float>(value / length);
  }
  return out;
}

// The vector that the code of row i stands for without bias: c + s·Rᵀû.
std::vector<float> unbiased(const Coded& coded, int64_t i) {
  std::vector<float> x(coded.codec->dim());
  coded.codec->decode(coded.view(), i, 1, Reconstruction::unbiased, x.data());
  return x;
}

Factors stored_factors(const Coded& coded, int64_t i) {
  const FactorFormat& format = coded.codec->factor_format();
  return load_factors(format, &coded.codes[coded.codec->layout().bytes(i + 1) - format.bytes()]);
}

// docs/codec.md's estimate from the unbiased reconstruction and the stored bias of the row.
double expected_score(const Coded& coded, int64_t i, const std::vector<float>& q) {
  const Codec& codec = *coded.codec;
  const int dim = codec.dim();
  const std::vector<float> estimate = unbiased(coded, i);
  const float* c = codec.centre().data();
  if (!codec.has_factors()) {
    if (codec.metric() != Metric::l2) return dot(q.data(), estimate.data(), dim);
    double distance = 0;
    for (int j = 0; j < dim; ++j) distance += std::pow(static_cast<double>(q[j]) - estimate[j], 2);
    return distance;
  }
  const double bias = stored_factors(coded, i).bias;
  double qc = 0, cc = 0, qq = 0, q_est = 0, c_est = 0;
  for (int j = 0; j < dim; ++j) {
    const double e = static_cast<double>(estimate[j]) - c[j];
    qc += static_cast<double>(q[j]) * c[j];
    cc += static_cast<double>(c[j]) * c[j];
    qq += std::pow(static_cast<double>(q[j]) - c[j], 2);
    q_est += (codec.metric() == Metric::l2 ? static_cast<double>(q[j]) - c[j] : q[j]) * e;
    c_est += c[j] * e;
  }
  if (codec.metric() == Metric::l2) return qq + bias * bias - 2 * q_est;
  const double beta = cc > 0 ? qc / cc : 0;
  return qc + beta * bias + (q_est - beta * c_est);
}

}  // namespace

TEST_CASE("a score is the documented formula over the decoded row", "[codec]") {
  for (const char* spec : kSpecs) {
    for (const Metric metric : kMetrics) {
      for (const int dim : {7, 100, 129}) {
        const Coded coded = code_rows(spec, metric, dim, 150, clustered_rows(150, dim, 5, 1));
        const std::vector<float> queries = clustered_rows(5, dim, 5, 2);
        for (int i = 0; i < 5; ++i) {
          std::vector<float> q(&queries[i * dim], &queries[i * dim] + dim);
          std::vector<float> scores(coded.n);
          const PreparedQuery query = coded.codec->prepare_query(q.data());
          coded.codec->score(query, coded.view(), 0, coded.n, scores.data());
          if (metric == Metric::cosine) q = normalized(q.data(), dim);
          for (int64_t row = 0; row < coded.n; row += 7) {
            const std::vector<float> x =
                metric == Metric::cosine ? normalized(coded.row(row), dim)
                                         : std::vector<float>(coded.row(row), coded.row(row) + dim);
            const double lengths =
                (norm(q.data(), dim) + (metric == Metric::l2 ? norm(x.data(), dim) : 0)) *
                norm(x.data(), dim);
            const double expected = expected_score(coded, row, q);
            CAPTURE(spec, static_cast<int>(metric), dim, row, scores[row], expected);
            REQUIRE(std::fabs(scores[row] - expected) <= 1e-4 * lengths);
          }
        }
      }
    }
  }
}

TEST_CASE("the unbiased estimate of a row by itself is its exact squared length", "[codec]") {
  // s = ‖x−c‖²/⟨R(x−c),û⟩ makes ⟨x−c, s·Rᵀû⟩ = ‖x−c‖².
  for (const char* spec : {"Polar0.5", "Polar2", "Polar4", "Polar2+2", "Polar8"}) {
    const int dim = 96;
    const Coded coded =
        code_rows(spec, Metric::inner_product, dim, 120, clustered_rows(120, dim, 9, 3));
    for (int64_t row = 0; row < coded.n; ++row) {
      const std::vector<float> estimate = unbiased(coded, row);
      double along = 0, length2 = 0;
      for (int j = 0; j < dim; ++j) {
        const double v = static_cast<double>(coded.row(row)[j]) - coded.codec->centre()[j];
        along += v * (static_cast<double>(estimate[j]) - coded.codec->centre()[j]);
        length2 += v * v;
      }
      CAPTURE(spec, row);
      REQUIRE(std::fabs(along / length2 - 1) <
              (coded.codec->factor_format().bytes() == 4 ? 12e-4 : 1e-5));
    }
  }
}

TEST_CASE("the stored bias is the row's exact term, rounded", "[codec]") {
  for (const char* spec : {"Polar2", "Polar8"}) {
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const int dim = 96;
      const Coded coded = code_rows(spec, metric, dim, 120, clustered_rows(120, dim, 9, 3));
      const double relative = coded.codec->factor_format().bytes() == 4 ? 0x1p-9 : 0x1p-23;
      for (int64_t row = 0; row < coded.n; ++row) {
        double along = 0, length2 = 0;
        for (int j = 0; j < dim; ++j) {
          const double v = static_cast<double>(coded.row(row)[j]) - coded.codec->centre()[j];
          along += v * coded.codec->centre()[j];
          length2 += v * v;
        }
        const double exact = metric == Metric::l2 ? std::sqrt(length2) : along;
        CAPTURE(spec, static_cast<int>(metric), row);
        REQUIRE(std::fabs(stored_factors(coded, row).bias - exact) <=
                relative * std::fabs(exact) + 1e-5);
      }
    }
  }
}

TEST_CASE("combine is the weighted sum over decode", "[codec]") {
  for (const char* spec : kSpecs) {
    for (const Metric metric : kMetrics) {
      const int dim = 70;
      const Coded coded = code_rows(spec, metric, dim, 140, clustered_rows(140, dim, 5, 4));
      Random random(5);
      std::vector<float> weights(coded.n);
      for (float& weight : weights) weight = static_cast<float>(random.normal());
      weights[3] = 0;
      std::vector<double> expected(dim, 0.0);
      std::vector<float> x(coded.n * dim);
      coded.codec->decode(coded.view(), 0, coded.n, Reconstruction::least_error, x.data());
      double size = 0;
      for (int64_t row = 0; row < coded.n; ++row) {
        size += std::fabs(weights[row]) * norm(&x[row * dim], dim);
        for (int j = 0; j < dim; ++j)
          expected[j] += static_cast<double>(weights[row]) * x[row * dim + j];
      }
      std::vector<float> out(dim);
      coded.codec->combine(coded.view(), weights.data(), out.data());
      for (int j = 0; j < dim; ++j) {
        CAPTURE(spec, static_cast<int>(metric), j);
        REQUIRE(std::fabs(out[j] - expected[j]) <= 1e-6 * size);
      }
    }
  }
}

TEST_CASE("code-to-code scores are symmetric and agree with a query made from the code",
          "[codec]") {
  for (const char* spec : kSpecs) {
    for (const Metric metric : kMetrics) {
      const int dim = 65;
      const Coded coded = code_rows(spec, metric, dim, 130, clustered_rows(130, dim, 5, 6));
      const double scale = metric == Metric::cosine ? 1 : dot(coded.row(0), coded.row(0), dim);
      for (int64_t a = 0; a < coded.n; a += 13) {
        const PreparedQuery query = coded.codec->prepare_query_from_code(coded.view(), a);
        for (int64_t b = 0; b < coded.n; b += 9) {
          float by_query = 0;
          coded.codec->score(query, coded.view(), b, 1, &by_query);
          const float direct = coded.codec->score_codes(coded.view(), a, coded.view(), b);
          CAPTURE(spec, static_cast<int>(metric), a, b, direct, by_query);
          REQUIRE(direct == coded.codec->score_codes(coded.view(), b, coded.view(), a));
          REQUIRE(std::fabs(direct - by_query) <= 1e-4 * scale);
        }
      }
    }
  }
}

TEST_CASE("least-error decoding is nearer to the rows than unbiased decoding", "[codec]") {
  for (const char* spec : {"Polar0.5", "Polar1", "Polar2"}) {
    const int dim = 128;
    const Coded coded = code_rows(spec, Metric::l2, dim, 300, clustered_rows(300, dim, 5, 7));
    double errors[2] = {0, 0};
    for (const Reconstruction kind : {Reconstruction::least_error, Reconstruction::unbiased}) {
      std::vector<float> x(coded.n * dim);
      coded.codec->decode(coded.view(), 0, coded.n, kind, x.data());
      for (size_t i = 0; i < x.size(); ++i) {
        errors[static_cast<int>(kind)] += std::pow(static_cast<double>(x[i]) - coded.rows[i], 2);
      }
    }
    CAPTURE(spec, errors[0], errors[1]);
    CHECK(errors[0] < 0.99 * errors[1]);
  }
}

TEST_CASE("awkward rows and dims encode, decode and score as finite numbers", "[codec]") {
  for (const char* spec : kSpecs) {
    for (const Metric metric : kMetrics) {
      for (const int dim : {1, 2, 3, 7, 100}) {
        if (std::string(spec) == "PolarTree4.2.2" && dim < 5) continue;  // deeper than dim allows
        if (std::string(spec) == "PolarTree4.2-online" && dim < 3) continue;
        std::vector<float> rows = clustered_rows(130, dim, 3, 8);
        std::fill_n(rows.begin(), dim, 0.0F);                              // all zero
        std::fill_n(rows.begin() + dim, dim, 1.0F);                        // all equal
        std::copy_n(rows.begin() + 5 * dim, dim, rows.begin() + 2 * dim);  // a duplicate
        rows[3 * dim] = -0.0F;
        const Coded coded = code_rows(spec, metric, dim, 130, rows);
        const PreparedQuery query = coded.codec->prepare_query(rows.data());
        std::vector<float> scores(130);
        std::vector<float> x(130 * dim);
        coded.codec->score(query, coded.view(), 0, 130, scores.data());
        coded.codec->decode(coded.view(), 0, 130, Reconstruction::least_error, x.data());
        CAPTURE(spec, static_cast<int>(metric), dim);
        for (const float score : scores) REQUIRE(std::isfinite(score));
        for (const float value : x) REQUIRE(std::isfinite(value));
        REQUIRE(scores[2] == scores[5]);
      }
    }
  }
}

TEST_CASE("a row equal to the centre has an all-zero code and decodes to the centre", "[codec]") {
  for (const int dim : {1, 2, 3, 7, 100}) {
    std::vector<float> centre = clustered_rows(1, dim, 7, 9);
    CodecOptions options;
    options.centre = centre;
    for (const Metric metric : {Metric::inner_product, Metric::l2}) {
      const Codec codec(parse_spec("Polar2"), dim, metric, options);
      std::vector<uint8_t> code(codec.layout().bytes(1), 0xff);
      codec.encode(1, centre.data(), code.data(), 1);
      CHECK(code == std::vector<uint8_t>(code.size(), 0));
      std::vector<float> x(dim);
      codec.decode({code.data(), 1}, 0, 1, Reconstruction::least_error, x.data());
      CHECK(x == centre);
      const std::vector<float> q = clustered_rows(1, dim, 7, 10);
      float score = 0;
      codec.score(codec.prepare_query(q.data()), {code.data(), 1}, 0, 1, &score);
      double exact = 0;
      for (int j = 0; j < dim; ++j) {
        exact += metric == Metric::l2 ? std::pow(static_cast<double>(q[j]) - centre[j], 2)
                                      : static_cast<double>(q[j]) * centre[j];
      }
      CHECK(std::fabs(score - exact) <= 1e-6 * std::fabs(exact));
    }
  }
}

TEST_CASE("encode refuses what it cannot store and names the row", "[codec]") {
  Codec codec(parse_spec("Polar2"), 4, Metric::inner_product, CodecOptions{});
  std::vector<uint8_t> codes(codec.layout().bytes(3));
  const auto refused = [&](float value, const char* part) {
    const std::vector<float> x = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, value, 0};
    CAPTURE(value);
    require_error(StatusCode::bad_argument, part,
                  [&] { codec.encode(3, x.data(), codes.data(), 1); });
  };
  refused(std::numeric_limits<float>::quiet_NaN(), "row 2 column 2");
  refused(std::numeric_limits<float>::infinity(), "row 2 column 2");
  refused(3e18F, "row 2");
  refused(3e38F, "row 2");
  const std::vector<float> fine = {1, 0, 0, 0};
  const Codec pair(parse_spec("PolarPair4x4"), 4, Metric::inner_product, CodecOptions{});
  require_error(StatusCode::not_trained, "PolarPair4x4",
                [&] { pair.encode(1, fine.data(), codes.data(), 1); });
  require_error(StatusCode::bad_argument, "n: -1",
                [&] { codec.encode(-1, fine.data(), codes.data(), 1); });
}

TEST_CASE("rows of all lengths but the longest are coded, at every dim and rate", "[codec]") {
  for (const char* spec : {"Polar0.5", "Polar2", "Polar4", "Polar5"}) {
    for (const int dim : {1, 2, 3, 17, 255}) {
      for (const Metric metric : {Metric::inner_product, Metric::l2}) {
        CodecOptions options;
        options.norm_unit = 8;
        const Codec codec(parse_spec(spec), dim, metric, options);
        std::vector<uint8_t> code(codec.layout().bytes(1));
        std::vector<float> x(dim, 0.0F);
        const auto encode = [&](double length) {
          x[dim / 2] = static_cast<float>(length);
          codec.encode(1, x.data(), code.data(), 1);
        };
        const double shortest = codec.least_norm();
        const double longest = codec.most_norm();
        CHECK(shortest == 0x1p-58);
        CHECK(longest == kMaxRowNorm);
        for (const double length : {shortest * 1.001, 1.0, longest * 0.999}) {
          CAPTURE(spec, dim, static_cast<int>(metric), length);
          encode(length);
          std::vector<float> decoded(dim);
          codec.decode({code.data(), 1}, 0, 1, Reconstruction::unbiased, decoded.data());
          for (const float value : decoded) REQUIRE(std::isfinite(value));
          float score = 0;
          codec.score(codec.prepare_query(x.data()), {code.data(), 1}, 0, 1, &score);
          REQUIRE(std::isfinite(score));
        }
        CAPTURE(spec, dim, static_cast<int>(metric));
        encode(shortest * 0.99);
        CHECK(code == std::vector<uint8_t>(code.size(), 0));
        require_error(StatusCode::bad_argument,
                      "x: row 0: its distance to the centre is 2.3289e+18; up to 2.31e+18 is "
                      "allowed",
                      [&] { encode(longest * 1.01); });
      }
    }
  }
}

TEST_CASE("codes do not depend on threads or on how rows are split into calls", "[codec]") {
  for (const char* spec : {"Polar2", "Polar4+2", "PolarTree4.2.2", "PolarScalar4"}) {
    const int dim = 100;
    const Coded coded = code_rows(spec, Metric::l2, dim, 300, clustered_rows(300, dim, 5, 11));
    for (const int threads : {2, 3, 8}) {
      std::vector<uint8_t> codes(coded.codes.size());
      coded.codec->encode(300, coded.rows.data(), codes.data(), threads);
      CHECK(codes == coded.codes);
    }
    std::vector<uint8_t> codes(coded.codes.size());
    coded.codec->encode(117, coded.rows.data(), codes.data(), 2);
    coded.codec->encode(183, coded.row(117), &codes[coded.codec->layout().bytes(117)], 2);
    CHECK(codes == coded.codes);
  }
}
