// SPDX-License-Identifier: MIT
// "PolarPair4x4g128", …: pairs in polar form with the range of angle and radius taken per group of
// 128 rows, as in the public implementation of polar key caches that the article "PolarQuant" of
// github.com/ericshwu/PolarQuant describes (quantize_and_pack_nbit, kernel4group.py). Coordinates
// 2j and 2j+1 are a point (r, φ), φ in [0, 2π); in each group and pair, with m angle bits
//   step = (φ_max − φ_min) / 2^m,  index = clamp(⌊(φ − φ_min) / step⌋, 0, 2^m−1),
// decoded as φ_min + (index + ½)·step; the radius likewise with n bits.
//
// Where we differ: that implementation pairs j with j+dim/2 (rotary order) and finds the indices
// before it rounds the parameters to float16; we pair neighbours as Wu et al. do, and floor with
// the rounded parameters, so that each index is the nearest decoded value (never worse, and as good
// a use of the same bytes). A step that rounds to 0 gives index 0. Odd dimensions are padded with
// one 0. Angles are numbers here, so they come from portable_atan2; (0, 0) has angle 0.
//
// Code of a group: per pair the float16 numbers φ_min, φ step, r_min, r step; then the 128 rows,
// each from a new byte on: pair j is a field of m+n bits at bit j·(m+n) (bit_packing.h), the
// angle's index in the low m bits, the radius's above; the last byte's unused bits are 0.
#pragma once

#include "src/codec/quantizer.h"

namespace polarquant {

class PairGroupQuantizer final : public Quantizer {
 public:
  static constexpr int kGroupRows = 128;
  static constexpr int kMaxBits = 8;
  static constexpr size_t kPairParameterBytes = 8;

  /// dim in [1, 65535]; throws bad_argument unless both bits are in [1, 8].
  PairGroupQuantizer(int dim, int angle_bits, int radius_bits);

  Input input() const override { return Input::vector; }
  int group_rows() const override { return kGroupRows; }
  size_t code_bytes() const override;
  CodeDescription describe() const override { return {.published = this}; }
  bool has_short_floats() const override { return true; }
  void set_short_float(ShortFloat form) override { radius_form_ = form; }
  /// Throws bad_argument when a pair's radius exceeds max_short_float().
  void encode(const float* v, uint8_t* code) const override;
  void decode(const uint8_t* code, int row, float* y) const override;
  size_t memory_bytes() const override { return 0; }

  /// Where row `row` of the group begins in its code, and how long a row is.
  size_t row_offset(int row) const;
  size_t row_bytes() const;
  int angle_bits() const { return angle_bits_; }
  int radius_bits() const { return radius_bits_; }

 private:
  void encode_pair(const float* v, int pair, uint8_t* code) const;

  int dim_;
  int angle_bits_;
  int radius_bits_;
  int pairs_;
  ShortFloat radius_form_ = ShortFloat::wide16;
};

}  // namespace polarquant
