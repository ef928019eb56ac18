// SPDX-License-Identifier: MIT
// Fields of codes: unsigned numbers of 1 to 16 bits at any bit of a byte string, least significant
// bit first (bit i is bit i mod 8 of byte ⌊i/8⌋). Only the bytes that hold a field are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace polarquant {

/// Bytes that hold `bits` bits.
constexpr size_t bytes_of_bits(size_t bits) noexcept { return (bits + 7) / 8; }

/// Writes the low `width` bits of `value` at bit `first_bit`; those bits must be 0 before.
inline void write_bits(uint8_t* data, size_t first_bit, int width, uint32_t value) noexcept {
  const auto shift = static_cast<int>(first_bit % 8);
  uint32_t window = (value & ((1U << width) - 1)) << shift;
  uint8_t* byte = data + first_bit / 8;
  for (int left = width + shift; left > 0; left -= 8) {
    *byte = static_cast<uint8_t>(*byte | (window & 0xffU));
    window >>= 8;
    ++byte;
  }
}

inline uint32_t read_bits(const uint8_t* data, size_t first_bit, int width) noexcept {
  const auto shift = static_cast<int>(first_bit % 8);
  const uint8_t* byte = data + first_bit / 8;
  uint32_t window = 0;
  for (int filled = 0; filled < width + shift; filled += 8) {
    window |= static_cast<uint32_t>(*byte) << filled;
    ++byte;
  }
  return (window >> shift) & ((1U << width) - 1);
}

/// Reads `count` fields that lie one after the other.
inline void read_fields(const uint8_t* data, size_t first_bit, int width, int count,
                        uint16_t* fields) noexcept {
  const auto step = static_cast<size_t>(width);
  const uint64_t mask = (uint64_t{1} << width) - 1;
  const size_t end = bytes_of_bits(first_bit + static_cast<size_t>(count) * step);
  size_t bit = first_bit;
  int done = 0;
  // Many fields from 64 bits, while these hold nothing else.
  const auto read_together = [&](auto fields_together) {
    constexpr int kTogether = decltype(fields_together)::value;
    for (; done + kTogether <= count && bit / 8 + sizeof(uint64_t) <= end; done += kTogether) {
      uint64_t bits;
      std::memcpy(&bits, data + bit / 8, sizeof bits);
      bits >>= bit % 8;
      for (int i = 0; i < kTogether; ++i)
        fields[done + i] = static_cast<uint16_t>(bits >> (i * width) & mask);
      bit += kTogether * step;
    }
  };
  if (width <= 7) {
    read_together(std::integral_constant<int, 8>());
  } else if (width <= 14) {
    read_together(std::integral_constant<int, 4>());
  } else {
    read_together(std::integral_constant<int, 3>());
  }
  for (; done < count; ++done, bit += step)
    fields[done] = static_cast<uint16_t>(read_bits(data, bit, width));
}

}  // namespace polarquant
