// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// Shared memory of a block, or 0 where rows are too long for one.
size_t trellis_shared_bytes(const EncodeView& view, size_t most_shared_bytes);

/// Rows' codes, (n, row_bytes), of directions u, (n, dim), and their lengths: the second half of
/// Codec::encode_direction. Rows as make_directions.
void trellis_encode(const EncodeView& view, int64_t n, const float* u, const RowLength* lengths,
                    int64_t first_row, uint8_t* codes, Refused* refused, size_t most_shared_bytes,
                    cudaStream_t stream);

}  // namespace polarquant::cuda
