// SPDX-License-Identifier: MIT
// Parts of a codec's state that several of its files need.
#pragma once

#include <vector>

#include "src/codec/codec.h"

namespace polarquant {

/// Exponent of the unit for a typical norm; 0 for norm 0, which gives no hint.
int unit_exponent_for(double norm);
/// Throws `code` unless all numbers are finite and the norm is one that scores can hold.
void require_centre(const std::vector<float>& centre, StatusCode code);

}  // namespace polarquant
