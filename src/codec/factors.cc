// SPDX-License-Identifier: MIT
#include "src/codec/factors.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "src/codec/float8.h"
#include "src/codec/rounded_bits.h"

namespace polarquant {
namespace {

/// What a form holds, in units.
struct Range {
  size_t bytes;  // of both factors, and of the number in forms that have it
  double min_norm;
  double max_norm;
  float least_scale;
  float most_scale;
  float most_bias;
};

Range range_of(FactorForm form) {
  switch (form) {
    case FactorForm::float8:
      // A scale is at most eight times a length, unless the code lies badly.
      return {2, 0x1p-5, 0x1p7, kFloat8Least, kFloat8Most, kSignedFloat8Most};
    case FactorForm::centroid24:
      return {3, 0x1p-5, 0x1p7, kFloat8Least, kSignedFloat8Most, FLT_MAX};
    case FactorForm::centroid32:
      return {4, 0x1p-5, 0x1p7, kFloat8Least, kFloat8Most, FLT_MAX};
    case FactorForm::float16:
      return {4, 0x1p-13, 0x1p14, kFloat16MinNormal / 4, kFloat16Max, kFloat16Max};
    case FactorForm::wide16:
      return {4, 0x1p-61, 0x1p61, kWideLeast, kWideMost, kWideMost};
    default:
      return {8, 0x1p-61, 0x1p61, FLT_MIN, FLT_MAX, FLT_MAX};
  }
}

/// Stores both factors, the bias with a sign where the format has one; tells whether they fit.
template <typename Bits>
bool put_short(bool (*to_bits)(float, Bits*) noexcept,
               bool (*to_signed_bits)(float, Bits*) noexcept, bool signed_bias,
               const Factors& numbers, uint8_t* out) {
  Bits bits[2];
  if (!to_bits(numbers.scale, &bits[0])) return false;
  if (!(signed_bias ? to_signed_bits : to_bits)(numbers.bias, &bits[1])) return false;
  std::memcpy(out, bits, sizeof bits);
  return true;
}

constexpr int kFloatMantissaBits = 23;
constexpr int kExponentBits = 4;

/// The bits of a float's mantissa that a scale of so many bits leaves out.
int dropped_bits(const CentroidBits& bits) {
  return kFloatMantissaBits + kExponentBits - bits.scale;
}

/// The number of the centroid, s in units, and of b the multiple of s that is nearest.
void put_shares(const CentroidBits& bits, const FactorFormat& format, float scale,
                const Factors& factors, uint8_t* out) {
  const uint32_t scale_bits =
      rounded_bits(std::bit_cast<uint32_t>(scale), dropped_bits(bits), kFloat8Least);
  int share = 0;
  if (scale_bits != 0) {
    const double stored = std::bit_cast<float>(scale_bits << dropped_bits(bits)) * kFloat8Unit *
                          double{format.scale_unit};
    const double wanted =
        (factors.bias / stored - format.shares.square * stored) / format.shares.step;
    const double most = bits.most_share();
    share = static_cast<int>(std::lrint(std::clamp(wanted, -most, most)));
  }
  const uint32_t word = static_cast<uint32_t>(factors.centroid) | scale_bits << bits.number |
                        static_cast<uint32_t>(share) << (bits.number + bits.scale);
  for (size_t i = 0; i < format.bytes(); ++i) out[i] = static_cast<uint8_t>(word >> (8 * i));
}

Factors load_shares(const CentroidBits& bits, const FactorFormat& format, const uint8_t* in) {
  uint32_t word = 0;
  for (size_t i = 0; i < format.bytes(); ++i) word |= uint32_t{in[i]} << (8 * i);
  const uint32_t scale_bits = word >> bits.number & ((1U << bits.scale) - 1);
  const int above = 32 - bits.number - bits.scale - bits.share;
  const int32_t share = static_cast<int32_t>(word << above) >> (32 - bits.share);
  const float scale =
      std::bit_cast<float>(scale_bits << dropped_bits(bits)) * kFloat8Unit * format.scale_unit;
  const float bias =
      scale * (format.shares.square * scale + format.shares.step * static_cast<float>(share));
  return {scale, bias, static_cast<int>(word & ((1U << bits.number) - 1))};
}

/// Numbers without units.
Factors load_numbers(const FactorFormat& format, const uint8_t* in) {
  uint16_t shorts[2];
  switch (format.form) {
    case FactorForm::float8:
      return {float8_to_float(in[0]),
              format.signed_bias ? signed_float8_to_float(in[1]) : float8_to_float(in[1])};
    case FactorForm::float16:
      std::memcpy(shorts, in, sizeof shorts);
      return {half_to_float(shorts[0]), half_to_float(shorts[1])};
    case FactorForm::wide16:
      std::memcpy(shorts, in, sizeof shorts);
      return {wide_to_float(shorts[0]),
              format.signed_bias ? signed_wide_to_float(shorts[1]) : wide_to_float(shorts[1])};
    default:
      float values[2];
      std::memcpy(values, in, sizeof values);
      return {values[0], values[1]};
  }
}

}  // namespace

size_t FactorFormat::bytes() const {
  return range_of(form).bytes + (has_centroid && !stores_shares() ? sizeof(uint16_t) : 0);
}
double FactorFormat::min_norm_units() const { return range_of(form).min_norm; }
double FactorFormat::max_norm_units() const { return range_of(form).max_norm; }

float FactorFormat::min_scale() const { return range_of(form).least_scale * scale_unit; }
float FactorFormat::max_scale() const {
  return form == FactorForm::float32 ? FLT_MAX : range_of(form).most_scale * scale_unit;
}
float FactorFormat::max_bias() const {
  return form == FactorForm::float32 || stores_shares() ? FLT_MAX
                                                        : range_of(form).most_bias * bias_unit;
}

bool store_factors(const FactorFormat& format, const Factors& factors, uint8_t* out) noexcept {
  const float scale = factors.scale / format.scale_unit;
  const float bias = format.stores_shares() ? factors.bias : factors.bias / format.bias_unit;
  const Range range = range_of(format.form);
  const bool scale_fits = scale == 0 || (scale >= range.least_scale && scale <= range.most_scale);
  if (!scale_fits || !(std::fabs(bias) <= range.most_bias)) return false;
  if (const CentroidBits* bits = centroid_bits(format.form)) {
    put_shares(*bits, format, scale, factors, out);
    return true;
  }
  uint8_t* numbers = out + (format.has_centroid ? sizeof(uint16_t) : 0);
  switch (format.form) {
    case FactorForm::float8:
      if (!put_short(float_to_float8, float_to_signed_float8, format.signed_bias, {scale, bias},
                     numbers))
        return false;
      break;
    case FactorForm::float16: {
      const uint16_t halves[2] = {float_to_half(scale), float_to_half(bias)};
      std::memcpy(numbers, halves, sizeof halves);
      break;
    }
    case FactorForm::wide16:
      if (!put_short(float_to_wide, float_to_signed_wide, format.signed_bias, {scale, bias},
                     numbers))
        return false;
      break;
    case FactorForm::float32: {
      const float floats[2] = {scale, bias};
      std::memcpy(numbers, floats, sizeof floats);
      break;
    }
    default:
      break;
  }
  if (format.has_centroid) {
    out[0] = static_cast<uint8_t>(factors.centroid & 0xFF);
    out[1] = static_cast<uint8_t>(factors.centroid >> 8);
  }
  return true;
}

Factors load_factors(const FactorFormat& format, const uint8_t* in) noexcept {
  if (const CentroidBits* bits = centroid_bits(format.form)) return load_shares(*bits, format, in);
  int centroid = 0;
  if (format.has_centroid) {
    centroid = in[0] | in[1] << 8;
    in += sizeof(uint16_t);
  }
  const Factors numbers = load_numbers(format, in);
  return {numbers.scale * format.scale_unit, numbers.bias * format.bias_unit, centroid};
}

}  // namespace polarquant
