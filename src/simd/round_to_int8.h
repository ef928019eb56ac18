// SPDX-License-Identifier: MIT
// Rounding coordinates to levels.
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
/// The same to levels of at most `largest_level`, 1 to 32,767: round_for_basis (codec/rotation.h).
float round_to_step(const float* x, int n, int largest_level, int16_t* levels);

}  // namespace polarquant
