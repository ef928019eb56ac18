// SPDX-License-Identifier: MIT
#include "src/scan/layout/level_planes.h"

#include <cstring>

namespace polarquant {
namespace {

// Eight levels are the bytes of a 64-bit number.

constexpr int kTogether = 8;
constexpr uint64_t kLowBits = 0x0101010101010101;
constexpr uint64_t kMagnitudes = 0x7F7F7F7F7F7F7F7F;
constexpr uint64_t kHighBits = 0x8080808080808080;

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

/// Magnitudes of eight levels, as two numbers that overlap. A copy of seven bytes goes by memory,
/// and is waited for: a batch over an inverted file takes 1.14 times as long.
uint64_t load_sevens(const uint8_t* magnitudes) {
  uint32_t low, high;
  std::memcpy(&low, magnitudes, sizeof low);
  std::memcpy(&high, magnitudes + 3, sizeof high);
  return low | uint64_t{high} << 24;
}
void store_sevens(uint64_t bits, uint8_t* magnitudes) {
  const auto low = static_cast<uint32_t>(bits);
  const auto high = static_cast<uint32_t>(bits >> 24);
  std::memcpy(magnitudes, &low, sizeof low);
  std::memcpy(magnitudes + 3, &high, sizeof high);
}

/// 1 in the lowest bit of the bytes of levels that are negative. These count down to 0.
uint64_t negative_levels(uint64_t levels) { return ~levels >> 7 & kLowBits; }
uint64_t to_magnitudes(uint64_t levels) {
  return pack_sevens((levels ^ negative_levels(levels) * 0x7F) & kMagnitudes);
}
uint64_t to_levels(uint64_t signs, uint64_t magnitudes) {
  return unpack_sevens(magnitudes) ^ spread_to_low_bits(signs) * 0xFF ^ kHighBits;
}

}  // namespace

uint64_t split_levels(const uint8_t* levels, int count, uint8_t* magnitudes) {
  uint64_t signs = 0;
  int first = 0;
  uint64_t bytes;
  for (; first + kTogether <= count; first += kTogether, magnitudes += kLevelMagnitudeBits) {
    std::memcpy(&bytes, levels + first, sizeof bytes);
    signs |= gather_low_bits(negative_levels(bytes)) << first;
    store_sevens(to_magnitudes(bytes), magnitudes);
  }
  const int others = count - first;
  if (others == 0) return signs;
  bytes = kHighBits;  // that missing ones are 0 and positive
  std::memcpy(&bytes, levels + first, static_cast<size_t>(others));
  const uint64_t bits = to_magnitudes(bytes);
  std::memcpy(magnitudes, &bits, level_magnitude_bytes(others));
  return signs | gather_low_bits(negative_levels(bytes)) << first;
}

void join_levels(uint64_t signs, const uint8_t* magnitudes, int count, uint8_t* levels) {
  int first = 0;
  for (; first + kTogether <= count; first += kTogether, magnitudes += kLevelMagnitudeBits) {
    const uint64_t bytes = to_levels(signs >> first, load_sevens(magnitudes));
    std::memcpy(levels + first, &bytes, sizeof bytes);
  }
  const int others = count - first;
  if (others == 0) return;
  uint64_t bits = 0;
  std::memcpy(&bits, magnitudes, level_magnitude_bytes(others));
  const uint64_t bytes = to_levels(signs >> first, bits);
  std::memcpy(levels + first, &bytes, static_cast<size_t>(others));
}

}  // namespace polarquant
