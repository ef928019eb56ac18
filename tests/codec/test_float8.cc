// SPDX-License-Identifier: MIT
// All 256 numbers of 8 bits, and the floats where rounding turns.
#include "src/codec/float8.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// By the fields of a number, in double: `bits` of mantissa below 4 of exponent.
double magnitude_of(uint32_t number, int bits) {
  const auto exponent = static_cast<int>(number >> bits & 15);
  const auto mantissa = static_cast<double>(number & ((1U << bits) - 1));
  return std::ldexp(1 + std::ldexp(mantissa, -bits), exponent - 6);
}

}  // namespace

TEST_CASE("every number of 8 bits has its value and comes back", "[float8]") {
  for (uint32_t number = 0; number < 256; ++number) {
    CAPTURE(number);
    const auto bits = static_cast<uint8_t>(number);
    uint8_t back = 1;
    if (number >= 16) {  // exponent 1
      REQUIRE(static_cast<double>(float8_to_float(bits)) == magnitude_of(number, 4));
      REQUIRE(float_to_float8(float8_to_float(bits), &back));
      REQUIRE(back == bits);
    }
    if ((number & 0x7fU) >= 8) {
      const double sign = (number & 0x80U) != 0 ? -1 : 1;
      REQUIRE(static_cast<double>(signed_float8_to_float(bits)) == sign * magnitude_of(number, 3));
      REQUIRE(float_to_signed_float8(signed_float8_to_float(bits), &back));
      REQUIRE(back == bits);
    }
    // Those that no encoder writes are small.
    if (number < 16) REQUIRE(float8_to_float(bits) < kFloat8Least);
    if ((number & 0x7fU) < 8) REQUIRE(std::fabs(signed_float8_to_float(bits)) < kFloat8Least);
  }
  CHECK(float8_to_float(0) == 0);
  CHECK(signed_float8_to_float(0) == 0);
  CHECK(std::signbit(signed_float8_to_float(0x80)));
  CHECK(float8_to_float(16) == kFloat8Least);
  CHECK(float8_to_float(255) == kFloat8Most);
  CHECK(signed_float8_to_float(8) == kFloat8Least);
  CHECK(signed_float8_to_float(127) == kSignedFloat8Most);
  CHECK(signed_float8_to_float(255) == -kSignedFloat8Most);
}

TEST_CASE("between two numbers of 8 bits the nearer is taken, of the middle the even one",
          "[float8]") {
  for (uint32_t number = 16; number < 255; ++number) {
    CAPTURE(number);
    const float low = float8_to_float(static_cast<uint8_t>(number));
    const float high = float8_to_float(static_cast<uint8_t>(number + 1));
    const float middle = low + (high - low) / 2;
    const auto nearest = [](float value) {
      uint8_t bits = 0;
      REQUIRE(float_to_float8(value, &bits));
      return uint32_t{bits};
    };
    REQUIRE(nearest(std::nextafterf(middle, 0)) == number);
    REQUIRE(nearest(std::nextafterf(middle, high)) == number + 1);
    REQUIRE(nearest(middle) == number + number % 2);
  }
  for (uint32_t number = 8; number < 127; ++number) {
    CAPTURE(number);
    const float low = signed_float8_to_float(static_cast<uint8_t>(number));
    const float high = signed_float8_to_float(static_cast<uint8_t>(number + 1));
    const float middle = low + (high - low) / 2;
    const auto nearest = [](float value) {
      uint8_t plus = 0;
      uint8_t minus = 0;
      REQUIRE(float_to_signed_float8(value, &plus));
      REQUIRE(float_to_signed_float8(-value, &minus));
      REQUIRE(minus == (plus | 0x80U));
      return uint32_t{plus};
    };
    REQUIRE(nearest(std::nextafterf(middle, 0)) == number);
    REQUIRE(nearest(std::nextafterf(middle, high)) == number + 1);
    REQUIRE(nearest(middle) == number + number % 2);
  }
}

TEST_CASE("below the least and beyond the largest number of 8 bits", "[float8]") {
  uint8_t bits = 7;
  for (const float value : {0.0F, -0.0F, 1e-45F, 1e-30F, kFloat8Least / 4, kFloat8Least / 2}) {
    CAPTURE(value);
    REQUIRE(float_to_float8(value, &bits));
    CHECK(bits == 0);
    REQUIRE(float_to_signed_float8(-value, &bits));
    CHECK((bits & 0x7f) == 0);
  }
  for (const float value :
       {std::nextafterf(kFloat8Least / 2, 1), kFloat8Least * .99F, kFloat8Least}) {
    CAPTURE(value);
    REQUIRE(float_to_float8(value, &bits));
    CHECK(bits == 16);
    REQUIRE(float_to_signed_float8(-value, &bits));
    CHECK(bits == (0x80 | 8));
  }
  // Half a step beyond the largest is still nearer to it; its middle would be the next power's.
  const float past = kFloat8Most + 0x1p4F;
  REQUIRE(float_to_float8(std::nextafterf(past, 0), &bits));
  CHECK(bits == 255);
  const float signed_past = kSignedFloat8Most + 0x1p5F;
  REQUIRE(float_to_signed_float8(std::nextafterf(-signed_past, 0), &bits));
  CHECK(bits == 255);

  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bits = 7;
  for (const float value : {past, 1024.0F, 1e30F, infinity, nan, -1.0F, -1e-30F, -infinity, -nan}) {
    CAPTURE(value);
    CHECK_FALSE(float_to_float8(value, &bits));
    CHECK(bits == 7);
  }
  for (const float value :
       {signed_past, -signed_past, 1024.0F, -1e30F, infinity, -infinity, nan, -nan}) {
    CAPTURE(value);
    CHECK_FALSE(float_to_signed_float8(value, &bits));
    CHECK(bits == 7);
  }
}
