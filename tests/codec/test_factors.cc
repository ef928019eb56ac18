// SPDX-License-Identifier: MIT
#include "src/codec/factors.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// What stored numbers may be off by, of themselves.
double relative_error(const FactorFormat& format, bool is_bias) {
  switch (format.form) {
    case FactorForm::float16:
      return 0x1p-11;
    case FactorForm::wide16:
      return is_bias && format.signed_bias ? 0x1p-9 : 0x1p-10;
    case FactorForm::float8:
      return is_bias && format.signed_bias ? 0x1p-4 : 0x1p-5;
    default:
      return 0x1p-24;
  }
}

}  // namespace

TEST_CASE("factors come back within their format's precision", "[factors]") {
  for (const FactorForm form : {FactorForm::float16, FactorForm::wide16, FactorForm::float32}) {
    for (const bool has_sign : {true, false}) {
      for (const float scale_unit : {0x1p-40F, 1.0F, 0x1p30F}) {
        const FactorFormat format{form, has_sign, scale_unit, 8 * scale_unit};
        std::vector<float> scales = {0.0F, 1e-3F, 0.7F, 1.0F, 30.0F, 60000.0F};
        if (form != FactorForm::float16) scales.insert(scales.end(), {1.2e-19F, 1e-9F, 1.8e19F});
        for (const float scale : scales) {
          for (const float bias : {-5e18F, -50000.0F, -0.3F, 0.0F, 1e-3F, 2.0F, 1e18F}) {
            if (bias < 0 && !has_sign) continue;
            if (std::fabs(bias) > 65504 && form == FactorForm::float16) continue;
            CAPTURE(static_cast<int>(form), has_sign, scale_unit, scale, bias);
            uint8_t bytes[8];
            REQUIRE(store_factors(format, {scale * scale_unit, bias * 8 * scale_unit}, bytes));
            const Factors loaded = load_factors(format, bytes);
            CHECK(std::fabs(loaded.scale / scale_unit - scale) <=
                  relative_error(format, false) * scale);
            CHECK(std::fabs(loaded.bias / (8 * scale_unit) - bias) <=
                  relative_error(format, true) * std::fabs(bias));
          }
        }
      }
    }
  }
}

TEST_CASE("factors outside their format are refused, and nothing is written", "[factors]") {
  const FactorFormat half{FactorForm::float16, true, 1, 1};
  const FactorFormat wide{FactorForm::wide16, true, 1, 1};
  const FactorFormat wide_l2{FactorForm::wide16, false, 1, 1};
  const FactorFormat single{FactorForm::float32, true, 1, 1};
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto refuse_scales = [&](const FactorFormat& format, const std::vector<float>& scales) {
    for (const float scale : scales) {
      CAPTURE(static_cast<int>(format.form), scale);
      CHECK_FALSE(store_factors(format, {scale, 0}, bytes));
    }
  };
  refuse_scales(half, {1e-5F, 65505.0F, -1.0F, infinity, nan});
  refuse_scales(wide, {1e-19F, 1.9e19F, -1.0F, infinity, nan});
  refuse_scales(single, {1e-40F, -1.0F, infinity, nan});
  const auto refuse_biases = [&](const FactorFormat& format, const std::vector<float>& biases) {
    for (const float bias : biases) {
      CAPTURE(static_cast<int>(format.form), bias);
      CHECK_FALSE(store_factors(format, {1, bias}, bytes));
    }
  };
  refuse_biases(half, {-66000.0F, 66000.0F, infinity, nan});
  refuse_biases(wide, {-1.9e19F, 1.9e19F, infinity, nan});
  refuse_biases(wide_l2, {-1.0F, 1.9e19F, infinity, nan});
  CHECK(bytes[0] == 1);
  CHECK(bytes[3] == 4);
  // A bias too small for its form is 0.
  REQUIRE(store_factors(wide, {1, -1e-30F}, bytes));
  CHECK(load_factors(wide, bytes).bias == 0);
}

TEST_CASE("factors of 8 bits come back, and the number of a centroid before them", "[factors]") {
  for (const bool has_sign : {true, false}) {
    for (const bool has_centroid : {true, false}) {
      for (const float scale_unit : {0x1p-40F, 1.0F, 0x1p30F}) {
        const FactorFormat format{FactorForm::float8, has_sign, scale_unit, 8 * scale_unit,
                                  has_centroid};
        REQUIRE(format.bytes() == (has_centroid ? 4 : 2));
        for (const int centroid : {0, 1, 255, 256, 65535}) {
          for (const float scale : {0.0F, 0x1p-5F, 0.7F, 1.0F, 30.0F, 990.0F}) {
            for (const float bias : {-950.0F, -3.0F, -0.3F, 0.0F, 0.04F, 2.0F, 960.0F}) {
              if (bias < 0 && !has_sign) continue;
              CAPTURE(has_sign, has_centroid, scale_unit, centroid, scale, bias);
              uint8_t bytes[5] = {1, 2, 3, 4, 5};
              const Factors factors{scale * scale_unit, bias * 8 * scale_unit, centroid};
              REQUIRE(store_factors(format, factors, bytes));
              CHECK(bytes[format.bytes()] == format.bytes() + 1);
              const Factors loaded = load_factors(format, bytes);
              CHECK(loaded.centroid == (has_centroid ? centroid : 0));
              CHECK(std::fabs(loaded.scale / scale_unit - scale) <=
                    relative_error(format, false) * scale);
              CHECK(std::fabs(loaded.bias / (8 * scale_unit) - bias) <=
                    relative_error(format, true) * std::fabs(bias));
            }
          }
        }
        // Little-endian, before the others.
        if (!has_centroid) continue;
        uint8_t bytes[4];
        REQUIRE(store_factors(format, {scale_unit, 0, 0x1234}, bytes));
        CHECK(bytes[0] == 0x34);
        CHECK(bytes[1] == 0x12);
        CHECK(bytes[2] == 6 << 4);
        CHECK(bytes[3] == 0);
      }
    }
  }
}

TEST_CASE("any number of a centroid goes with the other forms of factors too", "[factors]") {
  for (const FactorForm form : {FactorForm::float16, FactorForm::wide16, FactorForm::float32}) {
    const FactorFormat format{form, true, 1, 1, true};
    FactorFormat without = format;
    without.has_centroid = false;
    uint8_t bytes[10];
    REQUIRE(format.bytes() == without.bytes() + 2);
    REQUIRE(store_factors(format, {.75F, -2, 40000}, bytes));
    const Factors loaded = load_factors(format, bytes);
    CHECK(loaded.centroid == 40000);
    CHECK(loaded.scale == .75F);
    CHECK(loaded.bias == -2);
  }
}

TEST_CASE("factors of 8 bits out of their range are refused, and nothing is written", "[factors]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool has_sign : {true, false}) {
    for (const bool has_centroid : {true, false}) {
      const FactorFormat format{FactorForm::float8, has_sign, 1, 1, has_centroid};
      uint8_t bytes[4] = {1, 2, 3, 4};
      const auto refuse = [&](const Factors& factors) {
        CAPTURE(has_sign, has_centroid, factors.scale, factors.bias);
        CHECK_FALSE(store_factors(format, factors, bytes));
        for (int i = 0; i < 4; ++i) CHECK(bytes[i] == i + 1);
      };
      for (const float scale : {.015F, 993.0F, -1.0F, infinity, nan}) refuse({scale, 0, 7});
      for (const float bias : {-993.0F, 993.0F, infinity, -infinity, nan}) refuse({1, bias, 7});
      if (!has_sign) refuse({1, -1, 7});
      if (has_sign) refuse({1, 961, 7});
      CHECK(store_factors(format, {format.max_scale(), format.max_bias(), 7}, bytes));
      CHECK(load_factors(format, bytes).scale == format.max_scale());
      CHECK(load_factors(format, bytes).bias == format.max_bias());
    }
  }
  // A bias too small for its form is 0.
  const FactorFormat format{FactorForm::float8, true, 1, 1};
  uint8_t bytes[2];
  REQUIRE(store_factors(format, {1, -1e-30F}, bytes));
  CHECK(load_factors(format, bytes).bias == 0);
}
