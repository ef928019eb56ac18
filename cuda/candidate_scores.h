// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// A query whose list has lost rows, or of whose listed rows more than `most` reach its threshold,
/// is left out. `reaching` null: none is.
struct CandidateLimit {
  const uint32_t* reaching;  // (nq)
  uint32_t most;
};

/// Scores listed rows one by one and ranks them by the least of score and bounds, or by the score
/// alone unless `bounded`. Listed rows whose similarity, a bound, does not reach their query's
/// threshold are left out. Rows that rank no lower than the threshold go into `best`; with
/// `best.entries` null every row's new rank replaces its entry in `lists`, 0 for those left out.
/// `lists.counts` null: all lists are full. `lists.entries` null: every row that `mask` keeps is
/// listed for every query.
void score_candidates(const CodeView& code, const QueryView& queries, const RowMask& mask,
                      bool bounded, const RankedLists& lists, const CandidateLimit& limit,
                      const Ranked* thresholds, const RankedLists& best, int multiprocessors,
                      cudaStream_t stream);

}  // namespace polarquant::cuda
