// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// Lays queries' levels, (nq, lanes), out as the words of decoded groups8 lie: chunk 4·segment + u
/// of 16 bytes is word u of groups8 0 to 3. arranged: (nq, lanes).
void arrange_levels(const CodeView& code, int nq, const int8_t* levels, int8_t* arranged,
                    cudaStream_t stream);

}  // namespace polarquant::cuda
