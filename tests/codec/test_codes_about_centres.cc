// SPDX-License-Identifier: MIT
// Codes about centres of the caller's (encode_residuals) against those of a codec with such a
// centre.
#include <cmath>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "tests/codec/clustered_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::clustered_rows;
using polarquant::test::require_error;

namespace {

const char* const kSpecs[] = {"Polar0.5", "Polar2",       "Polar4",         "Polar8",
                              "Polar2+2", "Polar2-dense", "PolarTree4.2.2", "PolarScalar4"};

/// Rows about two centres, alternately.
struct TwoCentres {
  int dim;
  std::vector<float> centres;
  std::vector<float> rows;
  std::vector<float> queries;

  TwoCentres(int d, int64_t n)
      : dim(d),
        centres(clustered_rows(2, d, 9, 71)),
        rows(clustered_rows(n, d, 5, 72)),
        queries(clustered_rows(5, d, 5, 73)) {
    for (int64_t row = 0; row < n; ++row)
      for (int j = 0; j < dim; ++j) rows[static_cast<size_t>(row * dim + j)] += centre(row % 2)[j];
  }
  const float* centre(int64_t which) const { return &centres[static_cast<size_t>(which * dim)]; }
};

Codec codec_of(const std::string& spec, int dim, Metric metric, const float* centre) {
  CodecOptions options;
  options.learn_centre = false;
  options.norm_unit = 8;
  if (centre != nullptr) options.centre = {centre, static_cast<size_t>(dim)};
  return Codec(parse_spec(spec), dim, metric, options);
}

}  // namespace

TEST_CASE("codes about a centre are those of a codec with this centre", "[codec]") {
  constexpr int64_t kRows = 60;
  for (const char* spec : kSpecs) {
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      const TwoCentres data(100, kRows);
      const Codec codec = codec_of(spec, data.dim, metric, nullptr);
      const size_t bytes = codec.layout().group_bytes;
      std::vector<uint8_t> codes(codec.layout().bytes(kRows));
      codec.encode_residuals(
          kRows, data.rows.data(), [&](int64_t row) { return data.centre(row % 2); }, codes.data(),
          2);
      for (const int64_t which : {0, 1}) {
        const Codec own = codec_of(spec, data.dim, metric, data.centre(which));
        std::vector<uint8_t> own_codes(codes.size());
        own.encode(kRows, data.rows.data(), own_codes.data(), 1);
        std::vector<float> rotated(static_cast<size_t>(data.dim));
        const ListCentre centre = codec.list_centre(data.centre(which), rotated.data());
        for (int64_t row = which; row < kRows; row += 2) {
          CAPTURE(spec, static_cast<int>(metric), row);
          const auto code =
              codes.begin() + static_cast<ptrdiff_t>(row) * static_cast<ptrdiff_t>(bytes);
          const auto own_code = own_codes.begin() + (code - codes.begin());
          // b is another one for inner product.
          const size_t same = metric == Metric::l2 || !codec.has_factors()
                                  ? bytes
                                  : bytes - codec.factor_format().bytes() / 2;
          REQUIRE(std::equal(code, code + static_cast<ptrdiff_t>(same), own_code));
          for (int q = 0; q < 5; ++q) {
            const float* query = &data.queries[static_cast<size_t>(q * data.dim)];
            PreparedQuery residual;
            codec.residual_query(codec.prepare_query(query), centre, &residual);
            float score = 0;
            float expected = 0;
            codec.score(residual, {&*code, 1}, 0, 1, &score);
            own.score(own.prepare_query(query), {&*own_code, 1}, 0, 1, &expected);
            // b is held to 2^-9; scores here are in the hundreds.
            REQUIRE(std::fabs(score - expected) <= 1e-3 * std::fabs(expected) + .5);
          }
          std::vector<float> x(static_cast<size_t>(data.dim));
          std::vector<float> own_x(x.size());
          codec.decode({&*code, 1}, 0, 1, Reconstruction::least_error, x.data());
          own.decode({&*own_code, 1}, 0, 1, Reconstruction::least_error, own_x.data());
          for (int j = 0; j < data.dim; ++j) {
            const auto at = static_cast<size_t>(j);
            REQUIRE(std::fabs(x[at] + data.centre(which)[j] - own_x[at]) < 1e-4);
          }
        }
      }
    }
  }
}

TEST_CASE("a centre of zero, and a row at its centre", "[codec]") {
  for (const Metric metric : {Metric::l2, Metric::inner_product}) {
    const TwoCentres data(64, 4);
    const Codec codec = codec_of("Polar4", data.dim, metric, nullptr);
    const std::vector<float> zero(64);
    std::vector<uint8_t> codes(codec.layout().bytes(1));
    std::vector<uint8_t> plain(codes.size());
    codec.encode_residuals(
        1, data.rows.data(), [&](int64_t) { return zero.data(); }, codes.data(), 1);
    codec.encode(1, data.rows.data(), plain.data(), 1);
    CHECK(codes == plain);
    std::vector<float> rotated(64);
    PreparedQuery residual;
    const PreparedQuery query = codec.prepare_query(data.queries.data());
    codec.residual_query(query, codec.list_centre(zero.data(), rotated.data()), &residual);
    CHECK(residual.rotated == query.rotated);

    codec.encode_residuals(
        1, data.centre(1), [&](int64_t) { return data.centre(1); }, codes.data(), 1);
    CHECK(codes == std::vector<uint8_t>(codes.size(), 0));
    codec.residual_query(query, codec.list_centre(data.centre(1), rotated.data()), &residual);
    float score = 0;
    codec.score(residual, {codes.data(), 1}, 0, 1, &score);
    double exact = 0;
    for (int j = 0; j < 64; ++j) {
      const double q = data.queries[static_cast<size_t>(j)];
      exact += metric == Metric::l2 ? std::pow(q - data.centre(1)[j], 2) : q * data.centre(1)[j];
    }
    CHECK(std::fabs(score - exact) <= 1e-5 * std::fabs(exact) + 1e-4);
  }
}

TEST_CASE("codecs that cannot code about other centres say so", "[codec]") {
  const TwoCentres data(64, 4);
  std::vector<uint8_t> codes(10000);
  const auto encode = [&](const Codec& codec) {
    codec.encode_residuals(
        2, data.rows.data(), [&](int64_t) { return data.centre(0); }, codes.data(), 1);
  };
  require_error(StatusCode::unsupported, "a centre of its own",
                [&] { encode(codec_of("Polar4", 64, Metric::l2, data.centre(0))); });
  require_error(StatusCode::unsupported, "128 rows together",
                [&] { encode(codec_of("PolarPair4x4g128", 64, Metric::l2, nullptr)); });
}
