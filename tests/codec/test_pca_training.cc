// SPDX-License-Identifier: MIT
// "-pca" from a sample of rows to codes: axes, plans, errors, when training is refused, and when it
// changes nothing.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "src/codec/codec.h"
#include "src/codec/planned_quantizer.h"
#include "src/codec/principal_axes.h"
#include "tests/codec/spread_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using polarquant::test::require_error;
using polarquant::test::spread_rows;

namespace {

const PlannedQuantizer& plan_of(const Codec& codec) {
  return dynamic_cast<const PlannedQuantizer&>(codec.quantizer());
}

std::unique_ptr<Codec> trained(const std::string& spec, int dim, const std::vector<float>& rows,
                               Metric metric = Metric::l2, uint64_t seed = 1) {
  CodecOptions options;
  options.seed = seed;
  auto codec = std::make_unique<Codec>(parse_spec(spec), dim, metric, options);
  codec->train(static_cast<int64_t>(rows.size()) / dim, rows.data());
  return codec;
}

/// Mean ‖x̂−x‖²/‖x−c‖² of the unbiased reconstruction.
double relative_error(const Codec& codec, const std::vector<float>& rows) {
  const auto dim = static_cast<size_t>(codec.dim());
  const auto n = static_cast<int64_t>(rows.size() / dim);
  std::vector<uint8_t> codes(codec.layout().bytes(n));
  codec.encode(n, rows.data(), codes.data(), 1);
  std::vector<float> decoded(rows.size());
  codec.decode({codes.data(), n}, 0, n, Reconstruction::unbiased, decoded.data());
  double sum = 0;
  for (size_t row = 0; row < static_cast<size_t>(n); ++row) {
    double error = 0;
    double length = 0;
    for (size_t j = 0; j < dim; ++j) {
      const double x = rows[row * dim + j];
      error += std::pow(decoded[row * dim + j] - x, 2);
      length += std::pow(x - codec.centre()[j], 2);
    }
    sum += error / length;
  }
  return sum / static_cast<double>(n);
}

}  // namespace

TEST_CASE("axes are orthonormal, sorted, and explain the second moments", "[pca]") {
  constexpr int kDim = 40;
  const std::vector<float> rows = spread_rows(700, kDim, 2, 1);
  SecondMoments moments(kDim);
  for (int row = 0; row < 700; ++row) moments.add(rows.data() + row * kDim);
  const SecondMoments::Axes axes = moments.axes();
  for (int i = 0; i < kDim; ++i) {
    const double* axis = axes.rows.data() + i * kDim;
    if (i > 0) CHECK(axes.variances[i] <= axes.variances[i - 1]);
    for (int k = 0; k <= i; ++k) {
      double dot = 0;
      for (int j = 0; j < kDim; ++j) dot += axis[j] * axes.rows[k * kDim + j];
      CHECK(dot == Approx(i == k ? 1 : 0).margin(1e-12));
    }
    double variance = 0;
    for (int row = 0; row < 700; ++row) {
      double along = 0;
      for (int j = 0; j < kDim; ++j) along += axis[j] * rows[row * kDim + j];
      variance += along * along / 700;
    }
    CHECK(variance == Approx(axes.variances[i]).epsilon(1e-9));
    double largest = 0;
    for (int j = 0; j < kDim; ++j)
      if (std::fabs(axis[j]) > std::fabs(largest)) largest = axis[j];
    CHECK(largest > 0);
  }
}

TEST_CASE("training takes a third of the error of rows that spread unevenly, in the same bytes",
          "[pca]") {
  for (const int dim : {200, 256}) {
    const std::vector<float> rows = spread_rows(10 * dim, dim, 1.5, 1);
    const std::vector<float> others = spread_rows(300, dim, 1.5, 2);
    for (const char* spec : {"Polar0.5", "Polar1", "Polar2", "Polar3.5", "Polar4", "Polar5"}) {
      for (const Metric metric : {Metric::inner_product, Metric::l2}) {
        CAPTURE(dim, spec, static_cast<int>(metric));
        const auto untrained = trained(spec, dim, rows, metric);
        const auto pca = trained(std::string(spec) + "-pca", dim, rows, metric);
        CHECK(pca->has_basis());
        CHECK(pca->layout().group_bytes == untrained->layout().group_bytes);
        const double error = relative_error(*pca, others);
        CHECK(error < .67 * relative_error(*untrained, others));
        // What training measured holds for rows it has not seen.
        CHECK(plan_of(*pca).errors().error == Approx(error).epsilon(.1));
        CHECK(pca->drift(300, others.data()) == Approx(1).margin(.1));
      }
    }
  }
}

TEST_CASE("on isotropic rows the untrained code stays", "[pca]") {
  constexpr int kDim = 128;
  for (const int64_t n : {2 * kDim, 10 * kDim}) {
    const std::vector<float> rows = spread_rows(n, kDim, 0, 3);
    for (const char* spec : {"Polar1", "Polar2", "Polar4"}) {
      CAPTURE(n, spec);
      const auto untrained = trained(spec, kDim, rows);
      const auto pca = trained(std::string(spec) + "-pca", kDim, rows);
      CHECK(!pca->has_basis());
      CHECK(plan_of(*pca).plan() == uniform_plan(kDim, pca->spec().numbers[0]));
      CHECK(plan_of(*pca).errors().error == plan_of(*pca).errors().untrained_error);
      std::vector<uint8_t> a(pca->layout().bytes(50));
      std::vector<uint8_t> b(a.size());
      pca->encode(50, rows.data(), a.data(), 1);
      untrained->encode(50, rows.data(), b.data(), 1);
      CHECK(a == b);
    }
  }
}

TEST_CASE("two stages' bytes are spent by variance, too", "[pca]") {
  for (const int dim : {200, 256}) {
    const std::vector<float> rows = spread_rows(10 * dim, dim, 1.5, 1);
    const std::vector<float> others = spread_rows(300, dim, 1.5, 2);
    for (const char* spec : {"Polar1+1", "Polar2+2", "Polar4+2", "Polar4+3"}) {
      CAPTURE(dim, spec);
      const auto untrained = trained(spec, dim, rows);
      const auto pca = trained(std::string(spec) + "-pca", dim, rows);
      CHECK(pca->layout().group_bytes == untrained->layout().group_bytes);
      const double error = relative_error(*pca, others);
      CHECK(plan_of(*pca).errors().error == Approx(error).epsilon(.15));
      CHECK(error < .95 * relative_error(*untrained, others));
    }
  }
}

TEST_CASE("on isotropic rows two stages' bytes are spent evenly", "[pca]") {
  for (const int dim : {100, 128}) {
    const std::vector<float> rows = spread_rows(10 * dim, dim, 0, 3);
    for (const char* spec : {"Polar2+2", "Polar4+2"}) {
      CAPTURE(dim, spec);
      const auto untrained = trained(spec, dim, rows);
      const auto pca = trained(std::string(spec) + "-pca", dim, rows);
      CHECK(!pca->has_basis());
      CHECK(plan_of(*pca).plan() ==
            even_plan(dim, twice_bits_of(pca->spec()), plan_of(*pca).code_bytes()));
      const PlanErrors& errors = plan_of(*pca).errors();
      CHECK(errors.error == Approx(relative_error(*pca, rows)).epsilon(.1));
      CHECK(errors.untrained_error == Approx(relative_error(*untrained, rows)).epsilon(.1));
    }
  }
}

TEST_CASE("training repeats to the byte, and its seed turns the segments", "[pca]") {
  const std::vector<float> rows = spread_rows(1000, 100, 1, 1);
  const auto one = trained("Polar2-pca", 100, rows);
  const auto two = trained("Polar2-pca", 100, rows);
  CHECK(one->save_state() == two->save_state());
  const auto other = trained("Polar2-pca", 100, rows, Metric::l2, 2);
  CHECK(plan_of(*other).plan() == plan_of(*one).plan());
  CHECK(other->state_id() != one->state_id());
}

TEST_CASE("queries without the coordinates that have no bits score as all of them do", "[pca]") {
  constexpr int kDim = 384;
  constexpr int64_t kRows = 50;
  const std::vector<float> rows = spread_rows(3000, kDim, 1.0, 9);
  for (const std::string spec : {"Polar1-pca", "Polar4-pca", "Polar2"}) {
    for (const Metric metric : {Metric::l2, Metric::inner_product}) {
      const auto codec = trained(spec, kDim, rows, metric);
      const int coded = codec->has_basis() ? plan_of(*codec).coded_dims() : kDim;
      CAPTURE(spec, coded);
      if (spec == "Polar1-pca") REQUIRE(coded < kDim);
      std::vector<uint8_t> codes(codec->layout().bytes(kRows));
      codec->encode(kRows, rows.data(), codes.data(), 1);
      for (const int64_t n : {0, 1, 5}) {
        const auto all = codec->prepare_queries(n, rows.data());
        const auto some = codec->prepare_queries(n, rows.data(), Codec::Coordinates::coded);
        REQUIRE(some.size() == static_cast<size_t>(n));
        for (size_t i = 0; i < some.size(); ++i) {
          for (int j = 0; j < kDim; ++j)
            REQUIRE(some[i].rotated[static_cast<size_t>(j)] ==
                    (j < coded ? all[i].rotated[static_cast<size_t>(j)] : 0));
          std::vector<float> all_scores(kRows);
          std::vector<float> some_scores(kRows);
          codec->score(all[i], {codes.data(), kRows}, 0, kRows, all_scores.data());
          codec->score(some[i], {codes.data(), kRows}, 0, kRows, some_scores.data());
          REQUIRE(all_scores == some_scores);
        }
      }
    }
  }
}

TEST_CASE("drift tells rows of another kind", "[pca]") {
  const std::vector<float> rows = spread_rows(1280, 128, 1.5, 1);
  const std::vector<float> isotropic = spread_rows(200, 128, 0, 2);
  const auto codec = trained("Polar3-pca", 128, rows);
  CHECK(codec->drift(200, isotropic.data()) > 3);
  CHECK(codec->drift(1, rows.data()) > 0);
  require_error(StatusCode::bad_argument, "n: 0 rows", [&] { codec->drift(0, rows.data()); });
  std::vector<float> centres(3 * 128);
  for (size_t i = 0; i < centres.size(); ++i) centres[i] = codec->centre()[i % 128];
  require_error(StatusCode::bad_argument, "equal the centre",
                [&] { codec->drift(3, centres.data()); });
  require_error(StatusCode::unsupported, "only -pca and PolarB… codecs",
                [&] { trained("Polar2", 128, rows)->drift(1, rows.data()); });
  require_error(StatusCode::not_trained, "not trained", [&] {
    Codec(parse_spec("Polar2-pca"), 128, Metric::l2, {}).drift(1, rows.data());
  });
}

TEST_CASE("what cannot be trained is refused, and nothing has changed", "[pca]") {
  const std::vector<float> rows = spread_rows(100, 50, 1, 1);
  Codec codec(parse_spec("Polar2-pca"), 50, Metric::l2, {});
  const uint64_t before = codec.state_id();
  CHECK(!codec.is_trained());
  require_error(StatusCode::bad_argument, "needs at least 100, and does well from 500",
                [&] { codec.train(99, rows.data()); });
  require_error(StatusCode::bad_argument, "equal the centre", [&] {
    const std::vector<float> zeros(100 * 50);
    codec.train(100, zeros.data());
  });
  std::vector<float> bad = rows;
  bad[7 * 50 + 3] = NAN;
  require_error(StatusCode::bad_argument, "row 7 column 3", [&] { codec.train(100, bad.data()); });
  std::vector<uint8_t> codes(codec.layout().bytes(1));
  require_error(StatusCode::not_trained, "Polar2-pca",
                [&] { codec.encode(1, rows.data(), codes.data(), 1); });
  CHECK(codec.state_id() == before);
  codec.train(100, rows.data());
  CHECK(codec.is_trained());
}

TEST_CASE("rows that lie in few dimensions are trained on", "[pca]") {
  // Only the first 10 of 100 coordinates differ from 0.
  std::vector<float> rows(400 * 100);
  const std::vector<float> small = spread_rows(400, 10, 0, 1);
  for (int row = 0; row < 400; ++row)
    std::memcpy(&rows[row * 100], &small[row * 10], 10 * sizeof(float));
  const auto codec = trained("Polar2-pca", 100, rows);
  CHECK(codec->has_basis());
  CHECK(plan_of(*codec).plan()[1].twice_bits == 0);
  CHECK(relative_error(*codec, rows) < .03);
}
