// SPDX-License-Identifier: MIT
#include "src/codec/wide16.h"

#include "src/codec/rounded_bits.h"

namespace polarquant {

bool float_to_wide(float value, uint16_t* wide) noexcept {
  return round_float(value, 14, kWideLeast, wide);
}

bool float_to_signed_wide(float value, uint16_t* wide) noexcept {
  return round_signed_float(value, 15, kWideLeast, wide);
}

}  // namespace polarquant
