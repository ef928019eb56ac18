// SPDX-License-Identifier: MIT
// A query's levels by words of 64, as the stages of signs take them.
#pragma once

#include <cstdint>

namespace polarquant {

/// Bit j is of level j.
struct LevelWord {
  uint64_t negative = 0;  // below 0
  uint64_t heavy = 0;     // far from 0
  int32_t heavy_count = 0;
  int32_t sum = 0;
  int32_t squares = 0;           // Σ level²
  int32_t magnitudes = 0;        // Σ |level|
  int32_t heavy_magnitudes = 0;  // Σ |level| of the heavy ones
};

/// Of levels, (words, 64), −127 to 127, on a 64-byte boundary, of which the first `dims` are
/// coordinates and the others 0. Heavy are those of more than `heavy_from` times the word's root
/// mean square over its coordinates; they are told of the first `weighed` words.
void sum_level_words(const int8_t* levels, int words, int weighed, int dims, float heavy_from,
                     LevelWord* sums);

}  // namespace polarquant
