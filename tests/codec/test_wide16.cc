// SPDX-License-Identifier: MIT
// All 65536 wide numbers, and the floats where rounding turns.
#include "src/codec/wide16.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "src/codec/short_float.h"
#include "tests/support/catch.h"

using namespace polarquant;

namespace {

/// By the fields of a number, in double: `bits` of mantissa below 7 of exponent.
double magnitude_of(uint32_t wide, int bits) {
  const auto exponent = static_cast<int>(wide >> bits & 127);
  const auto mantissa = static_cast<double>(wide & ((1U << bits) - 1));
  return std::ldexp(1 + std::ldexp(mantissa, -bits), exponent - 64);
}

}  // namespace

TEST_CASE("every wide number has its value and comes back", "[wide16]") {
  for (uint32_t wide = 0; wide < 65536; ++wide) {
    const auto bits = static_cast<uint16_t>(wide);
    uint16_t back = 1;
    if (wide >= 512) {  // exponent 1
      REQUIRE(static_cast<double>(wide_to_float(bits)) == magnitude_of(wide, 9));
      REQUIRE(float_to_wide(wide_to_float(bits), &back));
      REQUIRE(back == bits);
    }
    if ((wide & 0x7fffU) >= 256) {
      const double sign = (wide & 0x8000U) != 0 ? -1 : 1;
      REQUIRE(static_cast<double>(signed_wide_to_float(bits)) == sign * magnitude_of(wide, 8));
      REQUIRE(float_to_signed_wide(signed_wide_to_float(bits), &back));
      REQUIRE(back == bits);
    }
    // Those that no encoder writes are small.
    if (wide < 512) REQUIRE(wide_to_float(bits) < kWideLeast);
  }
  CHECK(wide_to_float(0) == 0);
  CHECK(signed_wide_to_float(0) == 0);
  CHECK(std::signbit(signed_wide_to_float(0x8000)));
  CHECK(wide_to_float(512) == kWideLeast);
  CHECK(wide_to_float(65535) == kWideMost);
}

TEST_CASE("between two wide numbers the nearer is taken, of the middle the even one", "[wide16]") {
  for (uint32_t wide = 512; wide < 65535; ++wide) {
    const float low = wide_to_float(static_cast<uint16_t>(wide));
    const float high = wide_to_float(static_cast<uint16_t>(wide + 1));
    const float middle = low + (high - low) / 2;
    const auto nearest = [](float value) {
      uint16_t bits = 0;
      REQUIRE(float_to_wide(value, &bits));
      return uint32_t{bits};
    };
    REQUIRE(nearest(std::nextafterf(middle, 0)) == wide);
    REQUIRE(nearest(std::nextafterf(middle, high)) == wide + 1);
    REQUIRE(nearest(middle) == wide + wide % 2);
  }
  for (uint32_t wide = 256; wide < 32767; ++wide) {
    const float low = signed_wide_to_float(static_cast<uint16_t>(wide));
    const float high = signed_wide_to_float(static_cast<uint16_t>(wide + 1));
    const float middle = low + (high - low) / 2;
    const auto nearest = [](float value) {
      uint16_t bits = 0;
      REQUIRE(float_to_signed_wide(-value, &bits));
      return bits & 0x7fffU;
    };
    REQUIRE(nearest(std::nextafterf(middle, 0)) == wide);
    REQUIRE(nearest(std::nextafterf(middle, high)) == wide + 1);
    REQUIRE(nearest(middle) == wide + wide % 2);
  }
}

TEST_CASE("below the least and beyond the largest wide number", "[wide16]") {
  uint16_t bits = 7;
  for (const float value : {0.0F, -0.0F, 1e-45F, 1e-30F, kWideLeast / 2}) {
    CAPTURE(value);
    REQUIRE(float_to_wide(value, &bits));
    CHECK(bits == 0);
    REQUIRE(float_to_signed_wide(-value, &bits));
    CHECK((bits & 0x7fff) == 0);
  }
  for (const float value : {std::nextafterf(kWideLeast / 2, 1), kWideLeast * .99F, kWideLeast}) {
    CAPTURE(value);
    REQUIRE(float_to_wide(value, &bits));
    CHECK(bits == 512);
    REQUIRE(float_to_signed_wide(-value, &bits));
    CHECK(bits == (0x8000 | 256));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bits = 7;
  for (const float value : {0x1p64F, 1e30F, infinity, nan, -1.0F, -1e-30F, -infinity, -nan}) {
    CAPTURE(value);
    CHECK_FALSE(float_to_wide(value, &bits));
  }
  for (const float value : {0x1p64F, -0x1p64F, 1e30F, infinity, -infinity, nan, -nan}) {
    CAPTURE(value);
    CHECK_FALSE(float_to_signed_wide(value, &bits));
  }
  CHECK(bits == 7);
}

TEST_CASE("16-bit floats of codes are little-endian and read as finite numbers", "[wide16]") {
  uint8_t bytes[2];
  write_short_float(ShortFloat::float16, half_to_float(0x3c01), bytes);
  CHECK(bytes[0] == 0x01);
  CHECK(bytes[1] == 0x3c);
  write_short_float(ShortFloat::wide16, 1.5F, bytes);
  CHECK(bytes[0] == 0);
  CHECK(bytes[1] == 0x81);  // exponent 64, the mantissa's top bit
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    bytes[0] = static_cast<uint8_t>(bits & 0xffU);
    bytes[1] = static_cast<uint8_t>(bits >> 8);
    REQUIRE(std::isfinite(read_short_float(ShortFloat::float16, bytes)));
    REQUIRE(std::isfinite(read_short_float(ShortFloat::wide16, bytes)));
  }
  bytes[0] = 0;
  bytes[1] = 0x7c;
  CHECK(read_short_float(ShortFloat::float16, bytes) == 0);
  bytes[0] = 0xff;
  bytes[1] = 0xfb;
  CHECK(read_short_float(ShortFloat::float16, bytes) == -kFloat16Max);
}
