// SPDX-License-Identifier: MIT
// Parts of a codec's state that several of its files need.
#pragma once

#include <cstdint>
#include <vector>

#include "src/codec/codec.h"

namespace polarquant {

/// Of the centre, and of centroids.
inline constexpr double kMostCentreNorm = 0x1p62;
/// Exponent of the unit for a typical norm; 0 for norm 0, which gives no hint.
int unit_exponent_for(double norm);
/// Throws bad_argument unless the numbers of x, (dim), are finite; `name` and `row` are in the
/// text.
void require_finite(const float* x, int dim, const char* name, int64_t row);
/// Throws `code` unless all numbers are finite and the norm is one that scores can hold.
void require_centre(const std::vector<float>& centre, StatusCode code);

}  // namespace polarquant
