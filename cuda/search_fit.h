// SPDX-License-Identifier: MIT
// Whether the lists of a search were long enough for the rows that its queries put there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace polarquant::cuda {

struct ListLimits {
  uint32_t first;   // rows of a query's list of candidates, or of matches that get bounds
  uint32_t best;    // of its list of ranked rows
  uint32_t ranked;  // in stages: no more candidates are ranked
  bool staged;
};

struct ListFit {
  bool best;
  bool candidates;
  bool candidates_later;  // if the rows are scanned again, with the thresholds of now
};

/// first, best: rows that were to go to a query's lists; reaching: of those in the first one, the
/// rows that reach the threshold.
__host__ __device__ inline ListFit fit_of(const ListLimits& limits, uint32_t first, uint32_t best,
                                          uint32_t reaching) {
  // No larger share of the rows that did not fit reaches the threshold.
  const double too_many = static_cast<double>(first) / limits.first;
  const double all_reaching = reaching * (too_many > 1 ? too_many : 1.0);
  const bool few_reach = !limits.staged || all_reaching <= limits.ranked;
  return {best <= limits.best, few_reach && first <= limits.first, few_reach};
}

/// Sets *unfinished to 1 where a list was too short, or a query is refused. counts: of nq queries,
/// (3, nq) as fit_of takes them, and one more, not 0 where a query is refused.
void note_unfinished(const ListLimits& limits, const uint32_t* counts, int nq, int32_t* unfinished,
                     cudaStream_t stream);

}  // namespace polarquant::cuda
