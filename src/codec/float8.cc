// SPDX-License-Identifier: MIT
#include "src/codec/float8.h"

#include "src/codec/rounded_bits.h"

namespace polarquant {

bool float_to_float8(float value, uint8_t* bits) noexcept {
  const uint32_t float_bits = std::bit_cast<uint32_t>(value);
  const bool negative = (float_bits & 0x80000000U) != 0;
  if (negative && value != 0) return false;
  const uint32_t kept = rounded_bits(float_bits & 0x7fffffffU, 19, kFloat8Least);
  if (kept > 0xFFU) return false;
  *bits = static_cast<uint8_t>(kept);
  return true;
}

bool float_to_signed_float8(float value, uint8_t* bits) noexcept {
  const uint32_t float_bits = std::bit_cast<uint32_t>(value);
  const uint32_t kept = rounded_bits(float_bits & 0x7fffffffU, 20, kFloat8Least);
  if (kept > 0x7FU) return false;
  *bits = static_cast<uint8_t>(kept | (float_bits >> 24 & 0x80U));
  return true;
}

}  // namespace polarquant
