// SPDX-License-Identifier: MIT
// Codes of one byte a coordinate, split into signs and magnitudes. Byte b is the level b of 256 in
// ascending order, which are symmetric about 0: below 128 the coordinate is negative, and levels b
// and 255 − b have one magnitude, number b − 128 or 127 − b in ascending order. So a search can run
// on the signs alone (block_layout.h), and no bit is added: 1 + 7 = 8.
//
// Magnitudes are fields of 7 bits in the order of the coordinates, least significant bit first
// (bit_packing.h); those of 64 coordinates fill whole bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

inline constexpr int kLevelMagnitudeBits = 7;

constexpr size_t level_magnitude_bytes(int count) {
  return (static_cast<size_t>(count) * kLevelMagnitudeBits + 7) / 8;
}

/// Splits `count` ≤ 64 levels: writes level_magnitude_bytes(count) bytes, and returns the signs,
/// bit j that of level j, 1 for negative.
uint64_t split_levels(const uint8_t* levels, int count, uint8_t* magnitudes);
/// The levels that were split.
void join_levels(uint64_t signs, const uint8_t* magnitudes, int count, uint8_t* levels);

}  // namespace polarquant
