// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// Orders queries' values, (nq, padded_dim), like the words of decoded groups8: chunk 4·segment + u
/// of 16 bytes is word u of groups8 0 to 3. arranged: (nq, padded_dim).
void arrange_values(const CodeView& code, int nq, const int8_t* values, int8_t* arranged,
                    cudaStream_t stream);

/// What tile scans of a trained code take of queries: values of both stages in one unit, arranged,
/// and the terms beside them. `values`: (nq, padded_dim), arranged.
void make_tile_queries(const CodeView& code, int nq, const QueryConstants* constants,
                       const int8_t* values, int8_t* tile_values, TileTerms* terms,
                       cudaStream_t stream);

}  // namespace polarquant::cuda
