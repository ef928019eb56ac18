// SPDX-License-Identifier: MIT
// Lists that a search with a filter probes: leave_out_lists of src/scan/search/kept_list_rows.h,
// by a radix select as in select_best.cu, with lists that count as many times as they have rows.
#include "cuda/cuda_check.h"
#include "cuda/list_filter.h"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
static_assert(kDigits == kThreads);

__global__ void __launch_bounds__(kThreads)
    drop_filtered_lists_kernel(const ListFilter* filter, int64_t lists, int64_t count,
                               Ranked* coarse) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at < count && filter[at % lists].kept == 0) coarse[at] = 0;
}

/// Sums over the threads of a block from the last one down to this one.
__device__ unsigned long long sum_from_last(unsigned long long own, unsigned long long* sums) {
  const int thread = threadIdx.x;
  sums[thread] = own;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const unsigned long long later = thread + distance < kThreads ? sums[thread + distance] : 0;
    __syncthreads();
    sums[thread] += later;
    __syncthreads();
  }
  return sums[thread];
}

/// A thread block a query.
__global__ void __launch_bounds__(kThreads)
    leave_out_lists_kernel(const ListFilter* filter, unsigned long long wanted, ProbesView probes) {
  __shared__ unsigned long long counts[kDigits];
  __shared__ unsigned long long sums[kThreads];
  __shared__ unsigned long long prefix;
  __shared__ unsigned long long left;  // rows that are wanted of lists that have the prefix
  Ranked* lists = probes.lists + static_cast<size_t>(blockIdx.x) * probes.nprobe;
  const int thread = threadIdx.x;
  if (thread == 0) {
    prefix = 0;
    left = wanted;
  }
  for (int known = 0; known < 64; known += kDigitBits) {
    counts[thread] = 0;
    __syncthreads();
    const unsigned long long before = prefix;
    const unsigned long long needed = left;
    const int shift = 64 - kDigitBits - known;
    for (int i = thread; i < probes.nprobe; i += kThreads) {
      const Ranked entry = lists[i];
      if (entry == 0 || (known > 0 && entry >> (64 - known) != before)) continue;
      atomicAdd(&counts[entry >> shift & (kDigits - 1)],
                static_cast<unsigned long long>(filter[row_of(entry)].kept));
    }
    __syncthreads();
    const unsigned long long own = counts[thread];
    const unsigned long long to_here = sum_from_last(own, sums);
    if (sums[0] < needed) return;  // all lists have fewer
    if (to_here >= needed && to_here - own < needed) {
      prefix = before << kDigitBits | static_cast<unsigned>(thread);
      left = needed - (to_here - own);
    }
    __syncthreads();
  }
  const Ranked last = prefix;
  for (int i = thread; i < probes.nprobe; i += kThreads)
    if (lists[i] < last) lists[i] = 0;
}

}  // namespace

void drop_filtered_lists(const ListFilter* filter, int64_t lists, int nq, Ranked* coarse,
                         cudaStream_t stream) {
  const int64_t count = lists * nq;
  drop_filtered_lists_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads,
                               0, stream>>>(filter, lists, count, coarse);
  POLAR_CUDA_CHECK_LAUNCH(drop_filtered_lists_kernel);
}

void leave_out_lists(const ListFilter* filter, int64_t wanted, const ProbesView& probes,
                     cudaStream_t stream) {
  leave_out_lists_kernel<<<static_cast<unsigned>(probes.nq), kThreads, 0, stream>>>(
      filter, static_cast<unsigned long long>(wanted), probes);
  POLAR_CUDA_CHECK_LAUNCH(leave_out_lists_kernel);
}

}  // namespace polarquant::cuda
