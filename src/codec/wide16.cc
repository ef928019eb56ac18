// SPDX-License-Identifier: MIT
#include "src/codec/wide16.h"

#include "src/codec/rounded_bits.h"

namespace polarquant {

bool float_to_wide(float value, uint16_t* wide) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool negative = (bits & 0x80000000U) != 0;
  if (negative && value != 0) return false;
  const uint32_t kept = rounded_bits(bits & 0x7fffffffU, 14, kWideLeast);
  if (kept > 0xFFFFU) return false;
  *wide = static_cast<uint16_t>(kept);
  return true;
}

bool float_to_signed_wide(float value, uint16_t* wide) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t kept = rounded_bits(bits & 0x7fffffffU, 15, kWideLeast);
  if (kept > 0x7FFFU) return false;
  *wide = static_cast<uint16_t>(kept | (bits >> 16 & 0x8000U));
  return true;
}

}  // namespace polarquant
