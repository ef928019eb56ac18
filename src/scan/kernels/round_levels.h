// SPDX-License-Identifier: MIT
// Rounding a query's coordinates: to levels, and to signs with two weights.
#pragma once

#include <cstdint>

namespace polarquant {

/// The largest |x_j| of n ≥ 1 finite numbers.
float largest_magnitude(const float* x, int n);
/// levels[j] = x_j·scale rounded to nearest, ties to even; |x_j·scale| fits the levels.
void round_levels(const float* x, int n, float scale, int8_t* levels);
/// Rounds x, (n), n ≥ 1, finite, or −x with `negate`, to levels −127 to 127 of one step, which is
/// returned; 0, as are the levels, where all are 0 or too small to divide by.
float round_to_step(const float* x, int n, int8_t* levels, bool negate = false);

/// Bit j is of number j.
struct SignBits {
  uint64_t negative = 0;  // x_j < 0
  uint64_t heavy = 0;     // |x_j| > heavy_from
};
/// Of n ≤ 64 numbers; weights[j], (n), is 3 where heavy, else 1, with the sign of x_j.
SignBits weigh_signs(const float* x, int n, float heavy_from, float* weights);

}  // namespace polarquant
