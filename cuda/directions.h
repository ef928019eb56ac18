// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// Shared memory of a block.
size_t direction_shared_bytes(const EncodeView& view);

/// u = √dim·R(x−c)/‖x−c‖ of n rows x, (n, dim), and their lengths: the first half of
/// Codec::encode_direction, by its operations in its order. A refused row is numbered from
/// `first_row` on; its u, and that of the centre, is 0.
void make_directions(const EncodeView& view, int64_t n, const float* x, int64_t first_row, float* u,
                     RowLength* lengths, Refused* refused, cudaStream_t stream);

}  // namespace polarquant::cuda
