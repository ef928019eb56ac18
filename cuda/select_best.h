// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// The k best rows of each of nq lists, in no order, into best, (nq, k), filled up with 0;
/// thresholds, (nq), are raised to the k-th best where there are as many. Either may be null.
/// Entries that are 0 do not count. `lists.counts` null: all lists are full.
void select_best(const RankedLists& lists, int nq, int64_t k, Ranked* best, Ranked* thresholds,
                 cudaStream_t stream);

/// Adds to reaching, (nq), how many listed rows of each query reach its threshold by their listed
/// rank. Rows that did not fit are not counted.
void count_reaching(const RankedLists& lists, int nq, const Ranked* thresholds, uint32_t* reaching,
                    cudaStream_t stream);

}  // namespace polarquant::cuda
