// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// Ranks all lists for each of nq queries (nq, dim), by the nearness of their centroids, the lower
/// list where it is equal: `ranked`, (nq, lists). Inner products and distances are float sums in
/// the order of dot_float (src/codec/dot.h), to the bit those that the CPU decides by.
void coarse_scores(const ListsView& lists, int dim, int nq, const float* queries, Ranked* ranked,
                   cudaStream_t stream);

}  // namespace polarquant::cuda
