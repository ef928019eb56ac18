// SPDX-License-Identifier: MIT
#include "src/codec/factors.h"

#include <cfloat>
#include <cmath>
#include <cstring>

#include "src/codec/float16.h"

namespace polarquant {
namespace {

struct Range {
  float min_positive;
  float max;
};

Range range_of(const FactorFormat& format) {
  return format.half ? Range{kFloat16MinNormal / 4, kFloat16Max} : Range{FLT_MIN, FLT_MAX};
}

}  // namespace

float FactorFormat::max_scale() const { return half ? kFloat16Max * scale_unit : FLT_MAX; }

bool store_factors(const FactorFormat& format, const Factors& factors, uint8_t* out) noexcept {
  const float scale = factors.scale / format.scale_unit;
  const float bias = factors.bias / format.bias_unit;
  const Range range = range_of(format);
  const bool scale_fits = scale == 0 || (scale >= range.min_positive && scale <= range.max);
  if (!scale_fits || !(std::fabs(bias) <= range.max)) return false;
  if (format.half) {
    const uint16_t halves[2] = {float_to_half(scale), float_to_half(bias)};
    std::memcpy(out, halves, sizeof halves);
  } else {
    const float floats[2] = {scale, bias};
    std::memcpy(out, floats, sizeof floats);
  }
  return true;
}

Factors load_factors(const FactorFormat& format, const uint8_t* in) noexcept {
  float values[2];
  if (format.half) {
    uint16_t halves[2];
    std::memcpy(halves, in, sizeof halves);
    values[0] = half_to_float(halves[0]);
    values[1] = half_to_float(halves[1]);
  } else {
    std::memcpy(values, in, sizeof values);
  }
  return {values[0] * format.scale_unit, values[1] * format.bias_unit};
}

}  // namespace polarquant
