// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "src/codec/factors.h"
#include "tests/support/catch.h"

using namespace polarquant;

TEST_CASE("factors come back within their format's precision", "[factors]") {
  for (const bool half : {true, false}) {
    for (const float scale_unit : {0x1p-40F, 1.0F, 0x1p30F}) {
      const FactorFormat format{half, scale_unit, 8 * scale_unit};
      for (const float scale : {0.0F, 1e-3F, 0.7F, 1.0F, 30.0F, 60000.0F}) {
        for (const float bias : {-50000.0F, -0.3F, 0.0F, 1e-3F, 2.0F}) {
          CAPTURE(half, scale_unit, scale, bias);
          uint8_t bytes[8];
          REQUIRE(store_factors(format, {scale * scale_unit, bias * 8 * scale_unit}, bytes));
          const Factors loaded = load_factors(format, bytes);
          const double relative = half ? 0x1p-11 : 0x1p-23;
          CHECK(std::fabs(loaded.scale / scale_unit - scale) <= relative * scale);
          CHECK(std::fabs(loaded.bias / (8 * scale_unit) - bias) <= relative * std::fabs(bias));
        }
      }
    }
  }
}

TEST_CASE("factors outside their format are refused, and nothing is written", "[factors]") {
  const FactorFormat half{true, 1, 1};
  const FactorFormat single{false, 1, 1};
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const float scale : {1e-5F, 65505.0F, -1.0F, infinity, nan}) {
    CAPTURE(scale);
    CHECK_FALSE(store_factors(half, {scale, 0}, bytes));
  }
  for (const float bias : {-66000.0F, 66000.0F, infinity, nan}) {
    CAPTURE(bias);
    CHECK_FALSE(store_factors(half, {1, bias}, bytes));
  }
  for (const float scale : {1e-40F, -1.0F, infinity, nan}) {
    CAPTURE(scale);
    CHECK_FALSE(store_factors(single, {scale, 0}, bytes));
  }
  CHECK(bytes[0] == 1);
  CHECK(bytes[3] == 4);
}
