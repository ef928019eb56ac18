// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// Shared memory of a block, or 0 where rows are too long for one.
size_t trellis_shared_bytes(const EncodePart& part, size_t most_shared_bytes);

/// Codes a part of rows' directions u that is windows of a trellis, and after the last part their
/// factors: the second half of Codec::encode_direction.
void trellis_encode(const EncodeView& view, const EncodePart& part, const EncodeRows& rows,
                    size_t most_shared_bytes, cudaStream_t stream);

}  // namespace polarquant::cuda
