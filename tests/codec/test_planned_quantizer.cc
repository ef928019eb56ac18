// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>
#include <vector>

#include "src/codec/magnitude_planes.h"
#include "src/codec/planned_quantizer.h"
#include "tests/codec/gaussian_rows.h"
#include "tests/support/catch.h"

using namespace polarquant;
using namespace polarquant::test;

namespace {

/// In the bytes of a trellis code.
PlannedQuantizer with_plan(int dim, int twice_bits, const SegmentPlan& plan) {
  PlannedQuantizer quantizer(dim, TrellisPlanes(dim, trellis_codebook(twice_bits)).bytes());
  quantizer.set_plan(plan, {.1, .2, .3});
  return quantizer;
}

}  // namespace

TEST_CASE("one rate everywhere is the untrained code, to the byte", "[plan]") {
  for (const int dim : {1, 5, 64, 65, 100, 200}) {
    for (int twice_bits = 1; twice_bits <= 10; ++twice_bits) {
      if (plan_bytes(dim, uniform_plan(dim, twice_bits)) >
          TrellisPlanes(dim, trellis_codebook(twice_bits)).bytes())
        continue;
      CAPTURE(dim, twice_bits);
      const PlannedQuantizer planned = with_plan(dim, twice_bits, uniform_plan(dim, twice_bits));
      const TrellisQuantizer untrained(dim, twice_bits);
      REQUIRE(planned.code_bytes() == untrained.code_bytes());
      CHECK(planned.describe().sign_plane_bytes == untrained.describe().sign_plane_bytes);
      const std::vector<float> rows = gaussian_rows(20, dim, 3);
      const auto codes = encode_rows(planned, rows, dim);
      CHECK(codes == encode_rows(untrained, rows, dim));
      CHECK(decode_rows(planned, codes, dim) == decode_rows(untrained, codes, dim));
    }
  }
}

TEST_CASE("each segment is coded at its rate and scale", "[plan]") {
  constexpr int kDim = 10 * 64 + 37;
  SegmentPlan plan;
  for (const int twice_bits : {16, 14, 12, 10, 6, 6, 4, 3, 2, 1, 0})
    plan.push_back({twice_bits, static_cast<float>(std::exp2(3 - static_cast<int>(plan.size())))});
  const PlannedQuantizer quantizer = with_plan(kDim, 9, plan);
  std::vector<float> rows = gaussian_rows(400, kDim, 8);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] *= plan[i % kDim / kSegmentDims].scale;
  const std::vector<float> decoded = round_trip(quantizer, rows, kDim);
  for (int segment = 0; segment < segments_of(kDim); ++segment) {
    CAPTURE(segment);
    const SegmentRate& at = plan[static_cast<size_t>(segment)];
    double error = 0;
    int64_t count = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (static_cast<int>(i % kDim / kSegmentDims) != segment) continue;
      error += std::pow((rows[i] - decoded[i]) / at.scale, 2);
      ++count;
    }
    const double expected = at.twice_bits == 0 ? 1 : find_plan_rate(at.twice_bits)->mse;
    CHECK(error / static_cast<double>(count) == Approx(expected).epsilon(.05));
  }
}

TEST_CASE("of a segment coded in part the first coordinates have its error, the others are 0",
          "[plan]") {
  struct Case {
    int dim;
    size_t bytes;
    SegmentPlan plan;
    int coded;
  };
  const Case cases[] = {{200, 18, {{4, 2}, {1, .5F}, {0, 1}, {0, 1}}, 96},
                        {200, 19, {{4, 2}, {1, .5F}, {0, 1}, {0, 1}}, 112},
                        {200, 7, {{1, 3}, {1, .5F}, {0, 1}, {0, 1}}, 112},
                        {200, 2, {{1, 3}, {0, 1}, {0, 1}, {0, 1}}, 32},
                        {101, 18, {{4, 2}, {1, .5F}}, 96},
                        {101, 19, {{4, 2}, {1, .5F}}, 101}};
  for (const Case& at : cases) {
    CAPTURE(at.dim, at.bytes);
    PlannedQuantizer quantizer(at.dim, at.bytes, SizeIn::bytes);
    quantizer.set_plan(at.plan, {});
    REQUIRE(quantizer.code_bytes() == at.bytes);
    REQUIRE(quantizer.coded_dims() == at.coded);
    CHECK(quantizer.scaled_dims(at.dim) == at.coded);
    const auto scale_of = [&](size_t i) {
      return at.plan[i % static_cast<size_t>(at.dim) / kSegmentDims].scale;
    };
    std::vector<float> rows = gaussian_rows(1500, at.dim, 8);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] *= scale_of(i);
    const std::vector<float> decoded = round_trip(quantizer, rows, at.dim);
    std::vector<double> errors(at.plan.size());
    std::vector<double> counts(at.plan.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t j = i % static_cast<size_t>(at.dim);
      if (j >= static_cast<size_t>(at.coded)) {
        REQUIRE(decoded[i] == 0);
        continue;
      }
      errors[j / kSegmentDims] += std::pow((rows[i] - decoded[i]) / scale_of(i), 2);
      ++counts[j / kSegmentDims];
    }
    for (size_t segment = 0; segment < errors.size(); ++segment) {
      if (counts[segment] == 0) continue;
      CAPTURE(segment);
      CHECK(errors[segment] / counts[segment] ==
            Approx(find_plan_rate(at.plan[segment].twice_bits)->mse).epsilon(.06));
    }
    // Any bytes are a code.
    Random random(5);
    std::vector<uint8_t> code(quantizer.code_bytes());
    std::vector<float> y(static_cast<size_t>(at.dim), NAN);
    for (int i = 0; i < 50; ++i) {
      for (uint8_t& byte : code) byte = static_cast<uint8_t>(random.next());
      quantizer.decode(code.data(), 0, y.data());
      for (const float value : y) REQUIRE(std::isfinite(value));
    }
  }
}

TEST_CASE("only the last segment with bits may lack some of its bytes", "[plan]") {
  const auto refused = [](const char* part, size_t bytes, const SegmentPlan& plan) {
    PlannedQuantizer quantizer(200, bytes, SizeIn::bytes);
    require_error(StatusCode::bad_argument, part, [&] { quantizer.set_plan(plan, {}); });
    CHECK(!quantizer.is_trained());
  };
  refused("16 bytes a vector; there are 15", 15, {{4, 1}, {0, 1}, {0, 1}, {0, 1}});
  refused("20 bytes a vector; there are 15", 15, {{4, 1}, {1, 1}, {0, 1}, {0, 1}});
  refused("there are 3", 3, {{1, 1}, {1, 1}, {0, 1}, {0, 1}});
  refused("24 bytes a vector; there are 23", 23, {{4, 1}, {2, 1}, {0, 1}, {0, 1}});
  refused("0 bytes a vector", 5, {{0, 1}, {0, 1}, {0, 1}, {0, 1}});
}

TEST_CASE("any bytes are a code", "[plan]") {
  const PlannedQuantizer quantizer = with_plan(200, 8, {{14, 1}, {6, 1}, {3, 1}, {0, 1}});
  Random random(5);
  std::vector<uint8_t> code(quantizer.code_bytes());
  std::vector<float> y(200);
  for (int i = 0; i < 100; ++i) {
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random.next());
    quantizer.decode(code.data(), 0, y.data());
    for (const float value : y) REQUIRE(std::isfinite(value));
  }
}

TEST_CASE("plans that do not fit are refused", "[plan]") {
  PlannedQuantizer quantizer(128, 32);
  const auto refused = [&](const char* part, const SegmentPlan& plan, const PlanErrors& errors) {
    require_error(StatusCode::bad_argument, part, [&] { quantizer.set_plan(plan, errors); });
    CHECK(!quantizer.is_trained());
  };
  refused("3 segments", {{4, 1}, {4, 1}, {4, 1}}, {});
  refused("5.5 bits", {{11, 1}, {0, 1}}, {});
  refused("segment 1 has more bits", {{2, 1}, {4, 1}}, {});
  refused("36 bytes", {{5, 1}, {4, 1}}, {});
  require_error(StatusCode::bad_argument, "1 to 8192", [] { PlannedQuantizer(8193, 2049); });
  PlannedQuantizer small(100, 75);
  require_error(StatusCode::bad_argument, "only full segments", [&] {
    small.set_plan({{12, 1}, {12, 1}}, {});
  });
  refused("scale 0", {{4, 1}, {4, 0}}, {});
  refused("scale nan", {{4, std::nanf("")}, {4, 1}}, {});
  refused("errors 1", {{4, 1}, {4, 1}}, {1, 0, 0});
  refused("errors 0 inf", {{4, 1}, {4, 1}}, {0, std::numeric_limits<double>::infinity(), 0});
}

TEST_CASE("magnitudes are the nearest levels", "[plan]") {
  for (const int bits : {6, 7, 8}) {
    const MagnitudePlanes planes(5, bits);
    CAPTURE(bits);
    REQUIRE(planes.levels().size() == size_t{1} << (bits - 1));
    const float largest = planes.levels().back();
    const float u[5] = {-100, 100, 0, planes.levels()[3], -planes.levels()[1]};
    uint8_t signs[1] = {};
    uint8_t cells[5] = {};
    float y[5];
    REQUIRE(planes.cell_bytes() == static_cast<size_t>((5 * (bits - 1) + 7) / 8));
    planes.encode(u, signs, cells);
    CHECK(signs[0] == 0b10001);
    planes.decode(signs, cells, y);
    CHECK(y[0] == -largest);
    CHECK(y[1] == largest);
    CHECK(y[2] == planes.levels()[0]);
    CHECK(y[3] == u[3]);
    CHECK(y[4] == u[4]);
  }
}
