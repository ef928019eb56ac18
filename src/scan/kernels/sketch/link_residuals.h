// SPDX-License-Identifier: MIT
// What a graph's record says of a neighbour, by SIMD.
#pragma once

#include <cstdint>

#include "src/scan/model/link_estimate.h"

namespace polarquant {

/// sum_residual (link_estimate.h), of values on 64-byte boundaries.
ResidualSums residual_sums(const int8_t* node, const int8_t* neighbour, int padded_dim, int signs,
                           ResidualScales scales, uint8_t* sign_bytes);

}  // namespace polarquant
