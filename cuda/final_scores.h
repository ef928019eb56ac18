// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// Writes a search's results for its best rows, (nq, k) with 0 for none, as its last step: the
/// scores of Codec::score to the bit, and rows, best score first, ties to the lower row; −1 with
/// the worst score for none. `similarity`, where it is not null: that of `best`, in the same order,
/// −inf for none. `exact` and `exact_scores`, (nq, k), are scratch memory. `terms`, (nq): for
/// queries of an inverted file, which have no constants; else null.
void final_scores(const CodeView& code, const QueryView& queries, const ListsView& lists,
                  const QueryTerms* terms, const Ranked* best, int64_t k, Ranked* exact,
                  float* exact_scores, float* scores, int64_t* rows, float* similarity,
                  cudaStream_t stream);

/// Their scores alone, in the order of `best`; `exact`, (nq, k), is overwritten.
void exact_scores(const CodeView& code, const QueryView& queries, const QueryTerms* terms,
                  const Ranked* best, int64_t k, Ranked* exact, float* scores, cudaStream_t stream);

}  // namespace polarquant::cuda
