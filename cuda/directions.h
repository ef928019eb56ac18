// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// Shared memory of a block.
size_t direction_shared_bytes(const EncodeView& view);

/// u = √dim·R(x−c)/‖x−c‖ of rows x, and their lengths: the first half of Codec::encode_direction,
/// by its operations in its order. Of Rotation::basis, u before the rotation, as values and units
/// (basis_product.h). For the centre, and what is refused, all is 0.
void make_directions(const EncodeView& view, const EncodeRows& rows, cudaStream_t stream);

}  // namespace polarquant::cuda
