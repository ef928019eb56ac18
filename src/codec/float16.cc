// SPDX-License-Identifier: MIT
#include "src/codec/float16.h"

#include <bit>

namespace polarquant {

uint16_t float_to_half(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x7f800000U) return sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U);
  if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // rounds to 65536 or more
  if (magnitude < 0x33000001U) return sign;             // at most half the smallest subnormal
  const auto exponent = static_cast<int>(magnitude >> 23) - 127;
  const uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  // Subnormal halves keep fewer bits: drop 13 + the places the exponent is under −14.
  const int drop = exponent < -14 ? 13 + (-14 - exponent) : 13;
  uint32_t kept = mantissa >> drop;
  const uint32_t dropped = mantissa & ((1U << drop) - 1);
  const uint32_t half_way = 1U << (drop - 1);
  if (dropped > half_way || (dropped == half_way && (kept & 1U) != 0)) ++kept;
  // kept holds the implicit bit for normals; adding it to exponent−1 lets a carry raise the
  // exponent.
  if (exponent >= -14) kept += static_cast<uint32_t>(exponent + 14) << 10;
  return static_cast<uint16_t>(sign | kept);
}

float half_to_float(uint16_t half) noexcept {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fU;
  const uint32_t mantissa = half & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

}  // namespace polarquant
