// SPDX-License-Identifier: MIT
// 8-bit floats of 4 exponent bits, for the factors of codes of few bytes: with 4 bits of mantissa
// and no sign, or with 3 and a sign before them. Exponents count from 2^-5 as 1, numbers of
// exponent 0 are 0 (none else is written). As with wide16.h, a shift puts the bits where a float
// has them, and a product with a power of two makes them the number.
#pragma once

#include <bit>
#include <cstdint>

namespace polarquant {

/// 2^-5; numbers from half of it on become at least that.
inline constexpr float kFloat8Least = 0x1p-5F;
/// The largest number without a sign, and with one.
inline constexpr float kFloat8Most = 0x1p10F - 0x1p5F;
inline constexpr float kSignedFloat8Most = 0x1p10F - 0x1p6F;

/// Float exponents are 127 above their value, these are 6.
inline constexpr float kFloat8Unit = 0x1p121F;

inline float float8_to_float(uint8_t bits) noexcept {
  return std::bit_cast<float>(uint32_t{bits} << 19) * kFloat8Unit;
}
inline float signed_float8_to_float(uint8_t bits) noexcept {
  return std::bit_cast<float>((bits & 0x80U) << 24 | (bits & 0x7FU) << 20) * kFloat8Unit;
}

/// Rounds to nearest, ties to even; below kFloat8Least to it or 0, whichever is nearer. False where
/// the value is beyond the largest, below 0 without a sign, or no number; *bits is then unchanged.
bool float_to_float8(float value, uint8_t* bits) noexcept;
bool float_to_signed_float8(float value, uint8_t* bits) noexcept;

}  // namespace polarquant
