// SPDX-License-Identifier: MIT
#include "src/codec/wide16.h"

namespace polarquant {
namespace {

/// The bits of a float ≥ 0, `dropped` fewer of mantissa, exponents counted from 2^-63 as 1.
uint32_t rounded(uint32_t float_bits, int dropped) {
  constexpr uint32_t kLeast = std::bit_cast<uint32_t>(kWideLeast);
  constexpr uint32_t kExponentOne = 0x00800000U;
  if (float_bits < kLeast) {
    // Exactly half of it rounds to the even one, 0.
    return float_bits > kLeast - kExponentOne ? kExponentOne >> dropped : 0;
  }
  const uint32_t bits = float_bits - kLeast + kExponentOne;
  const uint32_t odd = bits >> dropped & 1U;
  return (bits + (1U << (dropped - 1)) - 1 + odd) >> dropped;
}

}  // namespace

bool float_to_wide(float value, uint16_t* wide) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool negative = (bits & 0x80000000U) != 0;
  if (negative && value != 0) return false;
  const uint32_t kept = rounded(bits & 0x7fffffffU, 14);
  if (kept > 0xFFFFU) return false;
  *wide = static_cast<uint16_t>(kept);
  return true;
}

bool float_to_signed_wide(float value, uint16_t* wide) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t kept = rounded(bits & 0x7fffffffU, 15);
  if (kept > 0x7FFFU) return false;
  *wide = static_cast<uint16_t>(kept | (bits >> 16 & 0x8000U));
  return true;
}

}  // namespace polarquant
