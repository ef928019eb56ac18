// SPDX-License-Identifier: MIT
#include "src/scan/layout/level_planes.h"

#include <algorithm>
#include <cstring>

namespace polarquant {
namespace {

// Eight levels are the bytes of a 64-bit number.

constexpr int kTogether = 8;
constexpr uint64_t kLowBits = 0x0101010101010101;
constexpr uint64_t kMagnitudes = 0x7F7F7F7F7F7F7F7F;

/// Bytes of 7 bits become 56 bits, two neighbours at a time.
uint64_t pack_sevens(uint64_t bytes) {
  bytes = (bytes & 0x007F007F007F007F) | (bytes & 0x7F007F007F007F00) >> 1;
  bytes = (bytes & 0x00003FFF00003FFF) | (bytes & 0x3FFF00003FFF0000) >> 2;
  return (bytes & 0x000000000FFFFFFF) | (bytes & 0x0FFFFFFF00000000) >> 4;
}
uint64_t unpack_sevens(uint64_t bits) {
  bits = (bits & 0x000000000FFFFFFF) | (bits & 0x00FFFFFFF0000000) << 4;
  bits = (bits & 0x00003FFF00003FFF) | (bits & 0x0FFFC0000FFFC000) << 2;
  return (bits & 0x007F007F007F007F) | (bits & 0x3F803F803F803F80) << 1;
}

/// Bit i of the result is the lowest of byte i; the others are 0.
uint64_t gather_low_bits(uint64_t bytes) { return bytes * 0x0102040810204080 >> 56; }
uint64_t spread_to_low_bits(uint64_t bits) {
  const uint64_t one_each = (bits & 0xFF) * kLowBits & 0x8040201008040201;
  return (one_each + kMagnitudes) >> 7 & kLowBits;
}

/// Levels below 128 count down to 0. `negative`: 1 in the lowest bit of these levels' bytes.
uint64_t turn_negative(uint64_t bytes, uint64_t negative) {
  return (bytes ^ negative * 0x7F) & kMagnitudes;
}

}  // namespace

uint64_t split_levels(const uint8_t* levels, int count, uint8_t* magnitudes) {
  uint64_t signs = 0;
  for (int first = 0; first < count; first += kTogether) {
    const int some = std::min(kTogether, count - first);
    uint64_t bytes = 0x8080808080808080;  // that missing ones are 0 and positive
    std::memcpy(&bytes, levels + first, static_cast<size_t>(some));
    const uint64_t negative = ~bytes >> 7 & kLowBits;
    signs |= gather_low_bits(negative) << first;
    const uint64_t packed = pack_sevens(turn_negative(bytes, negative));
    std::memcpy(magnitudes, &packed, level_magnitude_bytes(some));
    magnitudes += kLevelMagnitudeBits;
  }
  return signs;
}

void join_levels(uint64_t signs, const uint8_t* magnitudes, int count, uint8_t* levels) {
  for (int first = 0; first < count; first += kTogether) {
    const int some = std::min(kTogether, count - first);
    uint64_t packed = 0;
    std::memcpy(&packed, magnitudes, level_magnitude_bytes(some));
    const uint64_t negative = spread_to_low_bits(signs >> first);
    const uint64_t bytes = turn_negative(unpack_sevens(packed), negative) | (negative ^ kLowBits)
                                                                                << 7;
    std::memcpy(levels + first, &bytes, static_cast<size_t>(some));
    magnitudes += kLevelMagnitudeBits;
  }
}

}  // namespace polarquant
