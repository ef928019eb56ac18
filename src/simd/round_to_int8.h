// SPDX-License-Identifier: MIT
// Rounds coordinates to int8 values.
#pragma once

#include <cstdint>

namespace polarquant {

/// The largest |x_j| of n ≥ 1 finite numbers.
float largest_magnitude(const float* x, int n);
/// values[j] = x_j·scale rounded to nearest, ties to even; |x_j·scale| must fit.
void round_to_int8(const float* x, int n, float scale, int8_t* values);
/// Rounds x, (n), n ≥ 1, finite, or −x with `negate`, to values −127 to 127 of one step, which is
/// returned. Step and values are 0 where all x are 0 or too small to divide by.
float round_to_step(const float* x, int n, int8_t* values, bool negate = false);
/// The same to values of at most `largest_value`, 1 to 127, or to 32,767: round_for_basis
/// (codec/rotation.h).
float round_to_step(const float* x, int n, int largest_value, int8_t* values);
float round_to_step(const float* x, int n, int largest_value, int16_t* values);

}  // namespace polarquant
