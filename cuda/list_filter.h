// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// Takes the lists of which nothing is allowed out of `coarse`, (nq, lists).
void drop_filtered_lists(const ListFilter* filter, int64_t lists, int nq, Ranked* coarse,
                         cudaStream_t stream);
/// Takes a query's probed lists out of probes.lists after the nearest that have `wanted` rows that
/// are allowed.
void leave_out_lists(const ListFilter* filter, int64_t wanted, const ProbesView& probes,
                     cudaStream_t stream);

}  // namespace polarquant::cuda
