// SPDX-License-Identifier: MIT
#include "src/codec/published/pair_group_quantizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "src/codec/bit_packing.h"
#include "src/core/portable_math.h"
#include "src/core/status.h"

namespace polarquant {
namespace {

using GroupValues = std::array<double, PairGroupQuantizer::kGroupRows>;

int checked_bits(int bits, const char* what) {
  require(bits >= 1 && bits <= PairGroupQuantizer::kMaxBits, StatusCode::bad_argument,
          "PolarPair…g128: {} {} bits; 1 to {} are allowed", bits, what,
          PairGroupQuantizer::kMaxBits);
  return bits;
}

/// A grid of 2^bits cells, as it is stored.
struct Grid {
  float minimum;
  float step;

  double middle(uint32_t index) const {
    return static_cast<double>(minimum) + (index + 0.5) * static_cast<double>(step);
  }
};

Grid read_grid(ShortFloat form, const uint8_t* in) {
  return {read_short_float(form, in), read_short_float(form, in + 2)};
}

/// Reads the grid back from the bytes just written, so that encoder and decoder have the same one.
Grid write_grid(ShortFloat form, const GroupValues& values, int bits, uint8_t* out) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double step = std::ldexp(*most - *least, -bits);
  write_short_float(form, static_cast<float>(*least), out);
  write_short_float(form, static_cast<float>(step), out + 2);
  return read_grid(form, out);
}

uint32_t cell_of(const Grid& grid, double value, int bits) {
  if (!(grid.step > 0)) return 0;
  const double cell =
      std::floor((value - static_cast<double>(grid.minimum)) / static_cast<double>(grid.step));
  return static_cast<uint32_t>(std::clamp(cell, 0.0, static_cast<double>((1 << bits) - 1)));
}

}  // namespace

PairGroupQuantizer::PairGroupQuantizer(int dim, int angle_bits, int radius_bits)
    : dim_(dim),
      angle_bits_(checked_bits(angle_bits, "angle")),
      radius_bits_(checked_bits(radius_bits, "radius")),
      pairs_((dim + 1) / 2) {}

size_t PairGroupQuantizer::row_bytes() const {
  return bytes_of_bits(static_cast<size_t>(pairs_) *
                       static_cast<size_t>(angle_bits_ + radius_bits_));
}

size_t PairGroupQuantizer::row_offset(int row) const {
  return static_cast<size_t>(pairs_) * kPairParameterBytes + static_cast<size_t>(row) * row_bytes();
}

size_t PairGroupQuantizer::code_bytes() const { return row_offset(kGroupRows); }

void PairGroupQuantizer::encode(const float* v, uint8_t* code) const {
  std::memset(code, 0, code_bytes());
  for (int pair = 0; pair < pairs_; ++pair) encode_pair(v, pair, code);
}

void PairGroupQuantizer::encode_pair(const float* v, int pair, uint8_t* code) const {
  GroupValues angles;
  GroupValues radii;
  for (int row = 0; row < kGroupRows; ++row) {
    const float* source = v + static_cast<int64_t>(row) * dim_ + 2 * pair;
    const auto x = static_cast<double>(source[0]);
    const double y = 2 * pair + 1 < dim_ ? static_cast<double>(source[1]) : 0;
    const double radius = std::sqrt(x * x + y * y);
    require(
        radius <= max_short_float(radius_form_), StatusCode::bad_argument,
        "PolarPair…g128: the radius of rotated pair {} is {:.6g} units; 0 to {:.6g} are allowed",
        pair, radius, max_short_float(radius_form_));
    const double angle = portable_atan2(y, x);
    angles[static_cast<size_t>(row)] = angle < 0 ? angle + 2 * kPi : angle;
    radii[static_cast<size_t>(row)] = radius;
  }

  uint8_t* parameters = code + static_cast<size_t>(pair) * kPairParameterBytes;
  const Grid angle_grid = write_grid(ShortFloat::float16, angles, angle_bits_, parameters);
  const Grid radius_grid = write_grid(radius_form_, radii, radius_bits_, parameters + 4);
  const int width = angle_bits_ + radius_bits_;
  for (int row = 0; row < kGroupRows; ++row) {
    const uint32_t angle = cell_of(angle_grid, angles[static_cast<size_t>(row)], angle_bits_);
    const uint32_t radius = cell_of(radius_grid, radii[static_cast<size_t>(row)], radius_bits_);
    write_bits(code + row_offset(row), static_cast<size_t>(pair) * static_cast<size_t>(width),
               width, angle | (radius << angle_bits_));
  }
}

void PairGroupQuantizer::decode(const uint8_t* code, int row, float* y) const {
  const uint8_t* fields = code + row_offset(row);
  const int width = angle_bits_ + radius_bits_;
  for (int pair = 0; pair < pairs_; ++pair) {
    const uint8_t* parameters = code + static_cast<size_t>(pair) * kPairParameterBytes;
    const uint32_t field =
        read_bits(fields, static_cast<size_t>(pair) * static_cast<size_t>(width), width);
    const uint32_t angle_index = field & ((1U << angle_bits_) - 1);
    // Bytes that no encoder wrote may hold angles beyond what portable_sincos takes.
    const double angle =
        std::clamp(read_grid(ShortFloat::float16, parameters).middle(angle_index), -1e6, 1e6);
    const double radius = read_grid(radius_form_, parameters + 4).middle(field >> angle_bits_);
    const auto [sine, cosine] = portable_sincos(angle);
    y[2 * pair] = static_cast<float>(radius * cosine);
    if (2 * pair + 1 < dim_) y[2 * pair + 1] = static_cast<float>(radius * sine);
  }
}

}  // namespace polarquant
