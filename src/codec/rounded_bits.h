// SPDX-License-Identifier: MIT
// What float8.h and wide16.h share: floats with fewer bits of exponent and mantissa.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace polarquant {

/// The bits of a float ≥ 0, `dropped` fewer of mantissa, exponents counted from that of `least`, a
/// power of two, as 1: rounded to nearest, ties to even; numbers below `least` to it or to 0.
inline uint32_t rounded_bits(uint32_t float_bits, int dropped, float least) noexcept {
  const auto least_bits = std::bit_cast<uint32_t>(least);
  constexpr uint32_t kExponentOne = 0x00800000U;
  if (float_bits < least_bits) {
    // Exactly half of it rounds to the even one, 0.
    return float_bits > least_bits - kExponentOne ? kExponentOne >> dropped : 0;
  }
  const uint32_t bits = float_bits - least_bits + kExponentOne;
  const uint32_t odd = bits >> dropped & 1U;
  return (bits + (1U << (dropped - 1)) - 1 + odd) >> dropped;
}

/// Without a sign, and with one in the highest bit. False where a value does not fit `Bits`, is
/// below 0 without a sign, or no number; *bits is then unchanged.
template <typename Bits>
bool round_float(float value, int dropped, float least, Bits* bits) noexcept {
  const auto float_bits = std::bit_cast<uint32_t>(value);
  const bool negative = (float_bits & 0x80000000U) != 0;
  if (negative && value != 0) return false;
  const uint32_t kept = rounded_bits(float_bits & 0x7fffffffU, dropped, least);
  if (kept > std::numeric_limits<Bits>::max()) return false;
  *bits = static_cast<Bits>(kept);
  return true;
}
template <typename Bits>
bool round_signed_float(float value, int dropped, float least, Bits* bits) noexcept {
  constexpr uint32_t kSign = 1U << (std::numeric_limits<Bits>::digits - 1);
  const auto float_bits = std::bit_cast<uint32_t>(value);
  const uint32_t kept = rounded_bits(float_bits & 0x7fffffffU, dropped, least);
  if (kept >= kSign) return false;
  *bits = static_cast<Bits>(kept | ((float_bits & 0x80000000U) != 0 ? kSign : 0));
  return true;
}

}  // namespace polarquant
