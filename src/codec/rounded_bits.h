// SPDX-License-Identifier: MIT
// What float8.h and wide16.h share: floats with fewer bits of exponent and mantissa.
#pragma once

#include <bit>
#include <cstdint>

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

}  // namespace polarquant
