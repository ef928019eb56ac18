// SPDX-License-Identifier: MIT
#include "cuda/search_fit.h"

#include "cuda/cuda_check.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    note_unfinished_kernel(ListLimits limits, const uint32_t* counts, int nq, int32_t* unfinished) {
  bool is_found = counts[3 * nq] == 0;
  for (int q = threadIdx.x; q < nq; q += kThreads) {
    const ListFit fit = fit_of(limits, counts[q], counts[nq + q], counts[2 * nq + q]);
    is_found = is_found && fit.best && fit.candidates;
  }
  if (!is_found) *unfinished = 1;
}

}  // namespace

void note_unfinished(const ListLimits& limits, const uint32_t* counts, int nq, int32_t* unfinished,
                     cudaStream_t stream) {
  note_unfinished_kernel<<<1, kThreads, 0, stream>>>(limits, counts, nq, unfinished);
  POLAR_CUDA_CHECK_LAUNCH(note_unfinished_kernel);
}

}  // namespace polarquant::cuda
