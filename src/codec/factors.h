// SPDX-License-Identifier: MIT
// The numbers beside each direction code (docs/codec.md, "Factors"): a scale s that makes the
// estimate of an inner product unbiased, and an exact term b that needs no code. Stored in 8 bits
// each for codes of few bytes (PolarB…), in 16 up to 4 bits a dimension and as float32 above, in
// units of a power of two. Codes about one of many centroids have its number before them, and all
// three in 24 bits up to 4,096 centroids.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/short_float.h"

namespace polarquant {

enum class Metric : int32_t { inner_product = 0, l2 = 1, cosine = 2 };

struct Factors {
  float scale = 0;  // s: R(x−c) ≈ s·û
  float bias = 0;   // b: ⟨c, x−c⟩ for inner product and cosine, ‖x−c‖ for L2
  /// The number of the row's centroid, where there are many; b is then t or n (centroids.h).
  int centroid = 0;
};

enum class FactorForm : uint8_t {
  float16,  // of states before format 4
  wide16,   // b has a sign for inner product and cosine
  float32,
  float8,  // as wide16
  // A centroid's number, s, and b as a multiple of s in even steps: see CentroidBits.
  centroid24,
  centroid32
};

/// Where centroid24 and centroid32 have their parts, from the lowest bit of 3 or 4 bytes on.
struct CentroidBits {
  int number;
  int scale;  // a float of 4 exponent bits, as float8
  int share;  // two's complement
  constexpr int most_share() const { return (1 << (share - 1)) - 1; }
};
inline constexpr CentroidBits kCentroid24 = {12, 7, 5};
inline constexpr CentroidBits kCentroid32 = {16, 8, 8};
/// Null in other forms.
constexpr const CentroidBits* centroid_bits(FactorForm form) {
  if (form == FactorForm::centroid24) return &kCentroid24;
  return form == FactorForm::centroid32 ? &kCentroid32 : nullptr;
}

/// How forms with a centroid have b: as s·(square·s + step·k), k what is stored. Measured in
/// training; square is 0 but for L2, where it is about ‖E‖²/s².
struct Shares {
  float square = 0;
  float step = 1;
  bool operator==(const Shares&) const = default;
};

/// How factors are stored, and the powers of two they are divided by.
struct FactorFormat {
  FactorForm form = FactorForm::wide16;
  bool signed_bias = true;
  float scale_unit = 1;
  float bias_unit = 1;
  /// Whether a code has the number of a centroid: in forms for it, or in two bytes before float8.
  bool has_centroid = false;
  Shares shares = {};

  size_t bytes() const;
  /// Of codes of few bytes, which are scored without bounds by signs.
  bool is_of_few_bytes() const { return form == FactorForm::float8 || stores_shares(); }
  bool stores_shares() const { return centroid_bits(form) != nullptr; }
  /// Lengths ‖x−c‖ in units: shorter rows are coded as 0, longer ones are refused.
  double min_norm_units() const;
  double max_norm_units() const;
  /// The least scale above 0, and the largest scale and |bias|, that can be stored.
  float min_scale() const;
  float max_scale() const;
  float max_bias() const;
};

/// Writes factors in `format.bytes()` bytes. False when a value is outside what the format holds to
/// at least 8 bits (float16: 2^-16 to 65504 units for the scale, up to 65504 units for the bias;
/// wide16: 2^-63 and 2^64); nothing is written then. Forms with a centroid take the nearest bias
/// that they hold. A scale of 0 is always in range.
bool store_factors(const FactorFormat& format, const Factors& factors, uint8_t* out) noexcept;
Factors load_factors(const FactorFormat& format, const uint8_t* in) noexcept;

}  // namespace polarquant
