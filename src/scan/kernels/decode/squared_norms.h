// SPDX-License-Identifier: MIT
// Lengths of rows of int8 values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

/// squared_norms[i] = Σ value² of row i: padded_dim values every `stride` bytes, on 64-byte
/// boundaries, −127 to 127.
void int8_squared_norms(const int8_t* values, int padded_dim, int count, size_t stride,
                        float* squared_norms);

/// The largest √Σ value² of up to kBlockRows rows, one after the other; rounded up.
float longest_row(const int8_t* values, int padded_dim, int count);

}  // namespace polarquant
