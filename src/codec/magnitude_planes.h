// SPDX-License-Identifier: MIT
// 6 to 8 bits a dimension, for the segments of a plan that have most of the variance: a plane of
// signs as the trellis codes have, and for each coordinate the nearest of the positive Lloyd-Max
// levels of the standard normal. A trellis of 256 cells ends at 5 bits.
//
// Signs: bit j is the sign of coordinate j. Magnitudes: bits−1 bits a coordinate, least significant
// first (bit_packing.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace polarquant {

inline constexpr int kMinMagnitudeBits = 6;
inline constexpr int kMaxMagnitudeBits = 8;

class MagnitudePlanes {
 public:
  /// bits in [6, 8], the sign counted.
  MagnitudePlanes(int dim, int bits);

  static double mse(int bits);

  int dim() const { return dim_; }
  /// Bits of a magnitude: one fewer than of a coordinate.
  int magnitude_bits() const { return bits_ - 1; }
  size_t sign_bytes() const { return (static_cast<size_t>(dim_) + 7) / 8; }
  size_t cell_bytes() const;
  /// Both planes are 0 before.
  void encode(const float* u, uint8_t* signs, uint8_t* cells) const;
  void decode(const uint8_t* signs, const uint8_t* cells, float* u) const;
  /// Ascending, 2^(bits−1).
  std::span<const float> levels() const { return levels_; }
  /// Between them, one fewer: a magnitude has the level above the boundaries that are below it.
  std::span<const float> boundaries() const { return boundaries_; }

 private:
  int dim_;
  int bits_;
  std::vector<float> levels_;
  std::vector<float> boundaries_;  // one fewer
};

}  // namespace polarquant
