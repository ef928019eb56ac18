// SPDX-License-Identifier: MIT
// Rounding a query's coordinates to levels.
#pragma once

#include <cstdint>

namespace polarquant {

/// The largest |x_j| of n ≥ 1 finite numbers.
float largest_magnitude(const float* x, int n);
/// levels[j] = x_j·scale rounded to nearest, ties to even; |x_j·scale| fits the levels.
void round_levels(const float* x, int n, float scale, int8_t* levels);

}  // namespace polarquant
