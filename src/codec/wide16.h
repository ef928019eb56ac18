// SPDX-License-Identifier: MIT
// 16-bit floats of 7 exponent bits, which reach 19 decades to either side of 1 where binary16
// reaches 4: with 9 bits of mantissa and no sign, or with 8 and a sign before them. Exponents are
// 64 above their value, numbers of exponent 0 are 0 (none else is written). A shift puts the bits
// where a float has them, and a product with a power of two makes them the number, as cheap as what
// converts binary16 in hardware.
#pragma once

#include <bit>
#include <cstdint>

namespace polarquant {

/// 2^-63; numbers from half of it on become at least that.
inline constexpr float kWideLeast = 0x1p-63F;
/// The largest number without a sign. With a sign it is a little smaller, 2^64 − 2^55.
inline constexpr float kWideMost = 0x1p64F - 0x1p54F;

/// Float exponents are 127 above their value.
inline constexpr float kWideUnit = 0x1p63F;

inline float wide_to_float(uint16_t wide) noexcept {
  return std::bit_cast<float>(uint32_t{wide} << 14) * kWideUnit;
}
inline float signed_wide_to_float(uint16_t wide) noexcept {
  const auto extended = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(wide)));
  return std::bit_cast<float>((extended << 15) & 0xBFFFFFFFU) * kWideUnit;
}

/// Rounds to nearest, ties to even; below kWideLeast to it or 0, whichever is nearer. False where
/// the value is beyond the largest, below 0 without a sign, or no number; *wide is then unchanged.
bool float_to_wide(float value, uint16_t* wide) noexcept;
bool float_to_signed_wide(float value, uint16_t* wide) noexcept;

}  // namespace polarquant
