// SPDX-License-Identifier: MIT
// A query's values by words of 64, as the stages of signs read them.
#pragma once

#include <cstdint>
#include <span>

namespace polarquant {

/// Bit j belongs to value j.
struct SignWord {
  uint64_t negative = 0;  // below 0
  int32_t sum = 0;
  int32_t squares = 0;  // Σ value²

  friend bool operator==(const SignWord&, const SignWord&) = default;
};

/// Sums of values, (words, 64), −127 to 127, on a 64-byte boundary.
void sum_sign_words(const int8_t* values, int words, SignWord* sums);

/// Weights of a word's coordinates, 0 to 7 each, bit by bit.
struct WordWeights {
  uint64_t ones = 0;
  uint64_t twos = 0;
  uint64_t fours = 0;
  int32_t sum = 0;
  int32_t squares = 0;  // Σ weight²
  int32_t along = 0;    // Σ weight·|value|

  int weight_of(int j) const {
    return static_cast<int>((ones >> j & 1) + 2 * (twos >> j & 1) + 4 * (fours >> j & 1));
  }
};

/// 3 for weights up to 3, 7 for weights up to 7.
inline constexpr size_t kMostBorders = 7;

/// A value's weight is the number of borders below it. Borders are 3 or 7, rising, in root mean
/// squares of its word over its coordinates, the first `dims` of `count` words. `words`: their
/// sums.
void weigh_values(const int8_t* values, const SignWord* words, int count, int dims,
                  std::span<const float> borders, WordWeights* weights);

}  // namespace polarquant
