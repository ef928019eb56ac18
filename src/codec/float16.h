// SPDX-License-Identifier: MIT
// IEEE binary16, converted by integer arithmetic: the same bytes with and without hardware support.
#pragma once

#include <cstdint>

namespace polarquant {

inline constexpr float kFloat16Max = 65504.0F;
inline constexpr float kFloat16MinNormal = 0x1p-14F;

/// Rounds to nearest, ties to even; beyond ±65519.99 becomes infinity, NaN stays NaN.
uint16_t float_to_half(float value) noexcept;
float half_to_float(uint16_t half) noexcept;

}  // namespace polarquant
