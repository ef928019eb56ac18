// SPDX-License-Identifier: MIT
// The two forms of 16-bit floats that quantizers store of their own; factors have factors.h. States
// of format 4 have the one with the wider range; states of older libraries keep binary16, and so do
// their codes.
#pragma once

#include <cstdint>

#include "src/codec/float16.h"
#include "src/codec/wide16.h"

namespace polarquant {

enum class ShortFloat : uint8_t { float16, wide16 };

/// Writes a value ≥ 0. The caller refuses values beyond what the form holds.
inline void write_short_float(ShortFloat form, float value, uint8_t* data) noexcept {
  uint16_t bits = 0xFFFF;  // the largest wide one
  if (form == ShortFloat::float16) {
    bits = float_to_half(value);
  } else {
    float_to_wide(value, &bits);
  }
  data[0] = static_cast<uint8_t>(bits & 0xFFU);
  data[1] = static_cast<uint8_t>(bits >> 8);
}

/// Infinities and NaNs of binary16, which no encoder writes, read as 0: any bytes are a code, and a
/// code never decodes to a vector that is not finite.
inline float read_short_float(ShortFloat form, const uint8_t* data) noexcept {
  const auto bits = static_cast<uint16_t>(data[0] | (data[1] << 8));
  if (form == ShortFloat::wide16) return wide_to_float(bits);
  return (bits & 0x7c00U) == 0x7c00U ? 0.0F : half_to_float(bits);
}

/// The largest radius or norm, in units, that codes have room for.
inline double max_short_float(ShortFloat form) {
  return form == ShortFloat::float16 ? double{kFloat16Max} : double{kWideMost};
}

}  // namespace polarquant
