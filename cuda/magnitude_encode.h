// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode_view.h"

namespace polarquant::cuda {

/// trellis_encode for a part that is magnitudes (MagnitudePlanes).
void magnitude_encode(const EncodeView& view, const EncodePart& part, const EncodeRows& rows,
                      cudaStream_t stream);

}  // namespace polarquant::cuda
