// SPDX-License-Identifier: MIT
// How long rows of values are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

/// squared_norms[i] = Σ level² of row i: `lanes` values every `stride` bytes, on 64-byte
/// boundaries, −127 to 127.
void int8_squared_norms(const int8_t* values, int lanes, int count, size_t stride,
                        float* squared_norms);

/// The largest √Σ level² of up to kBlockRows rows, one behind the other; rounded up.
float longest_row(const int8_t* values, int lanes, int count);

}  // namespace polarquant
