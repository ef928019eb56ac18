// SPDX-License-Identifier: MIT
#include "src/codec/float8.h"

#include "src/codec/rounded_bits.h"

namespace polarquant {

bool float_to_float8(float value, uint8_t* bits) noexcept {
  return round_float(value, 19, kFloat8Least, bits);
}

bool float_to_signed_float8(float value, uint8_t* bits) noexcept {
  return round_signed_float(value, 20, kFloat8Least, bits);
}

}  // namespace polarquant
