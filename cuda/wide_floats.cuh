// SPDX-License-Identifier: MIT
// 16-bit floats of 7 exponent bits, the same bits as those of src/codec/wide16.h.
#pragma once

#include <cstdint>

namespace polarquant::cuda {

inline constexpr float kWideUnit = 0x1p63F;
inline constexpr uint32_t kWideLeastBits = 0x20000000U;  // of the float 2^-63
inline constexpr uint32_t kExponentOne = 0x00800000U;

__device__ inline float wide_to_float(uint32_t wide) {
  return __uint_as_float(wide << 14) * kWideUnit;
}
/// The lower of the two in 32 bits.
__device__ inline float lower_wide(uint32_t both) {
  return __uint_as_float(both << 14 & 0x3FFFC000U) * kWideUnit;
}
__device__ inline float upper_wide(uint32_t both, bool has_sign) {
  const uint32_t bits = has_sign
                            ? static_cast<uint32_t>(static_cast<int32_t>(both) >> 1) & 0xBFFF8000U
                            : both >> 2 & 0x3FFFC000U;
  return __uint_as_float(bits) * kWideUnit;
}

/// Rounds a magnitude to nearest, ties to even, with `dropped` bits less of mantissa.
__device__ inline uint32_t rounded_wide(float magnitude, int dropped) {
  const uint32_t float_bits = __float_as_uint(magnitude);
  if (float_bits < kWideLeastBits)
    return float_bits > kWideLeastBits - kExponentOne ? kExponentOne >> dropped : 0;
  const uint32_t bits = float_bits - kWideLeastBits + kExponentOne;
  return (bits + (1U << (dropped - 1)) - 1 + (bits >> dropped & 1U)) >> dropped;
}
/// Makes both factors; false where one is beyond its form. A scale is not negative.
__device__ inline bool to_wide_factors(float scale, float bias, bool has_sign, uint32_t* both) {
  const uint32_t lower = rounded_wide(scale, 14);
  const uint32_t upper = rounded_wide(fabsf(bias), has_sign ? 15 : 14);
  if (lower > 0xFFFFU || upper > (has_sign ? 0x7FFFU : 0xFFFFU)) return false;
  const uint32_t sign = has_sign ? __float_as_uint(bias) >> 16 & 0x8000U : 0;
  *both = lower | (upper | sign) << 16;
  return true;
}

}  // namespace polarquant::cuda
