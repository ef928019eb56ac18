// SPDX-License-Identifier: MIT
// All 65536 halves, and the floats where rounding turns.
#include "src/codec/float16.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/catch.h"

using polarquant::float_to_half;
using polarquant::half_to_float;
using polarquant::kFloat16Max;
using polarquant::kFloat16MinNormal;

namespace {

bool is_nan(uint16_t half) { return (half & 0x7c00U) == 0x7c00U && (half & 0x3ffU) != 0; }

/// The value of a finite half from its fields, in double.
double value_of(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const int mantissa = half & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("every finite half has its value and comes back", "[codec]") {
  int checked = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if ((half & 0x7c00U) == 0x7c00U) continue;
    REQUIRE(static_cast<double>(half_to_float(half)) == value_of(half));
    REQUIRE(std::signbit(half_to_float(half)) == ((half & 0x8000U) != 0));
    REQUIRE(float_to_half(half_to_float(half)) == half);
    ++checked;
  }
  CHECK(checked == 2 * 31 * 1024);
}

TEST_CASE("between two halves the nearer is taken, in the middle the even one", "[codec]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits + 1 < 0x7c00; ++bits) {
    const auto below = static_cast<uint16_t>(bits);
    const auto above = static_cast<uint16_t>(bits + 1);
    const auto middle = static_cast<float>((value_of(below) + value_of(above)) / 2);
    const uint16_t even = (bits & 1U) == 0 ? below : above;
    REQUIRE(float_to_half(middle) == even);
    REQUIRE(float_to_half(std::nextafter(middle, 0.0F)) == below);
    REQUIRE(float_to_half(std::nextafter(middle, infinity)) == above);
    REQUIRE(float_to_half(-middle) == (even | 0x8000U));
  }
}

TEST_CASE("what float16 cannot hold becomes infinity, zero or NaN", "[codec]") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(float_to_half(kFloat16Max) == 0x7bff);
  CHECK(float_to_half(std::nextafter(65520.0F, 0.0F)) == 0x7bff);
  CHECK(float_to_half(65520.0F) == 0x7c00);
  CHECK(float_to_half(-65520.0F) == 0xfc00);
  CHECK(float_to_half(std::numeric_limits<float>::max()) == 0x7c00);
  CHECK(float_to_half(infinity) == 0x7c00);
  CHECK(float_to_half(-infinity) == 0xfc00);
  CHECK(half_to_float(0x7c00) == infinity);
  CHECK(half_to_float(0xfc00) == -infinity);

  CHECK(float_to_half(kFloat16MinNormal) == 0x0400);
  CHECK(float_to_half(0x1p-25F) == 0);  // the middle of 0 and the smallest half
  CHECK(float_to_half(std::nextafter(0x1p-25F, 1.0F)) == 1);
  CHECK(float_to_half(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(float_to_half(-0.0F) == 0x8000);

  CHECK(is_nan(float_to_half(std::numeric_limits<float>::quiet_NaN())));
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (!is_nan(half)) continue;
    REQUIRE(std::isnan(half_to_float(half)));
    REQUIRE(is_nan(float_to_half(half_to_float(half))));
  }
}
