// SPDX-License-Identifier: MIT
// Planes of signs: bit j is 1 when coordinate j is negative; −0 is not.
#pragma once

#include <cstdint>

namespace polarquant {

/// Writes ⌈dim/8⌉ bytes.
void store_signs(const float* u, int dim, uint8_t* signs);
/// Negates the coordinates that are negative.
void apply_signs(const uint8_t* signs, int dim, float* u);

}  // namespace polarquant
