// SPDX-License-Identifier: MIT
// From dot products of rounded vectors to their similarities, and to those among them that are high
// (search/byte_vectors.h).
#pragma once

#include <cstdint>
#include <vector>

namespace polarquant {

struct SimilarityTerms {
  float base;
  float weight;  // of constants
  float unit;    // of a vector's step times its dot product
  // Of the vectors, on 64-byte boundaries.
  const float* constants;
  const float* steps;
};

/// similarity[16·t + i] = base + weight·constants[16·t + i] + unit·(steps[16·t + i]·dots[t·stride +
/// i]) for i < 16 and t < tiles. The same bits on every target.
void similarities_of_dots(const SimilarityTerms& terms, const int32_t* dots, int64_t stride,
                          int64_t tiles, float* similarity);

struct FloatRange {
  float least;
  float most;
};
/// Of (count) values, count ≥ 1. NaN is passed over, but for the first value.
FloatRange range_of_floats(const float* values, int64_t count);

/// Finds the numbers, rising, of those of (count) values that are not below `least`; NaN is not.
void find_not_below(float least, const float* values, int64_t count, std::vector<int64_t>* found);

}  // namespace polarquant
