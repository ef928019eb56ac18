// SPDX-License-Identifier: MIT
#include "src/codec/factors.h"

#include <cfloat>
#include <cmath>
#include <cstring>

namespace polarquant {
namespace {

struct Range {
  float min_positive;
  float max;
};

Range range_of(FactorForm form) {
  switch (form) {
    case FactorForm::float16:
      return {kFloat16MinNormal / 4, kFloat16Max};
    case FactorForm::wide16:
      return {kWideLeast, kWideMost};
    default:
      return {FLT_MIN, FLT_MAX};
  }
}

bool to_shorts(const FactorFormat& format, float scale, float bias, uint16_t (&shorts)[2]) {
  if (format.form == FactorForm::float16) {
    shorts[0] = float_to_half(scale);
    shorts[1] = float_to_half(bias);
    return true;
  }
  return float_to_wide(scale, &shorts[0]) &&
         (format.signed_bias ? float_to_signed_wide(bias, &shorts[1])
                             : float_to_wide(bias, &shorts[1]));
}

}  // namespace

float FactorFormat::max_scale() const {
  return form == FactorForm::float32 ? FLT_MAX : range_of(form).max * scale_unit;
}

bool store_factors(const FactorFormat& format, const Factors& factors, uint8_t* out) noexcept {
  const float scale = factors.scale / format.scale_unit;
  const float bias = factors.bias / format.bias_unit;
  const Range range = range_of(format.form);
  const bool scale_fits = scale == 0 || (scale >= range.min_positive && scale <= range.max);
  if (!scale_fits || !(std::fabs(bias) <= range.max)) return false;
  if (format.form == FactorForm::float32) {
    const float floats[2] = {scale, bias};
    std::memcpy(out, floats, sizeof floats);
    return true;
  }
  uint16_t shorts[2];
  if (!to_shorts(format, scale, bias, shorts)) return false;
  std::memcpy(out, shorts, sizeof shorts);
  return true;
}

Factors load_factors(const FactorFormat& format, const uint8_t* in) noexcept {
  float values[2];
  if (format.form == FactorForm::float32) {
    std::memcpy(values, in, sizeof values);
  } else {
    uint16_t shorts[2];
    std::memcpy(shorts, in, sizeof shorts);
    if (format.form == FactorForm::float16) {
      values[0] = half_to_float(shorts[0]);
      values[1] = half_to_float(shorts[1]);
    } else {
      values[0] = wide_to_float(shorts[0]);
      values[1] = format.signed_bias ? signed_wide_to_float(shorts[1]) : wide_to_float(shorts[1]);
    }
  }
  return {values[0] * format.scale_unit, values[1] * format.bias_unit};
}

}  // namespace polarquant
