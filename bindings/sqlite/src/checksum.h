// SPDX-License-Identifier: MIT
// The checksum of a record: XXH3, 64 bits, of its numbers as int64, then of each of its blobs with
// the sum before it as the seed.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace polarquant::sqlite {

inline int64_t checksum(std::initializer_list<int64_t> numbers,
                        std::initializer_list<std::span<const uint8_t>> parts) {
  uint64_t sum = XXH3_64bits(numbers.begin(), numbers.size() * sizeof(int64_t));
  for (const std::span<const uint8_t> part : parts)
    sum = XXH3_64bits_withSeed(part.data(), part.size(), sum);
  return static_cast<int64_t>(sum);
}

}  // namespace polarquant::sqlite
