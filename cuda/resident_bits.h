// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/interface.h"

namespace polarquant::cuda {

/// Copies a filter's bits to a word for each of `blocks` blocks: bits that are not there are 0.
void copy_bits(const ResidentBits& bits, int64_t blocks, uint64_t* words, cudaStream_t stream);

}  // namespace polarquant::cuda
