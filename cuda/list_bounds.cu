// SPDX-License-Identifier: MIT
// Bounds of the rows that a scan by tiles lists: those that reach the threshold by score alone.
#include <algorithm>

#include "cuda/list_of.cuh"
#include "cuda/list_scan.h"
#include "cuda/pair_keys.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMostBlocks = 16;  // of a query

/// The item of a query and a list that it probes.
__device__ uint32_t item_of_list(const ProbesView& probes, const ItemsView& items, int64_t q,
                                 int64_t list) {
  int64_t at = q * probes.nprobe;
  while (probes.lists[at] == 0 || row_of(probes.lists[at]) != list) ++at;
  return static_cast<uint32_t>(item_of(probes, items, at));
}

template <bool kTrained>
__global__ void __launch_bounds__(kThreads)
    bound_ranks_kernel(CodeView code, ListsView lists, ProbesView probes, ListScanTask task) {
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kMaxStages) * 256];
  const int64_t q = blockIdx.y;
  const uint32_t count = min(task.best.counts[q], task.best.capacity);
  if (blockIdx.x * kThreads >= count) return;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads) tables[i] = code.tables[i];
  __syncthreads();
  Ranked* entries = task.best.entries + static_cast<size_t>(q) * task.best.capacity;
  const Ranked threshold = task.thresholds[q];
  for (uint32_t at = blockIdx.x * kThreads + threadIdx.x; at < count; at += gridDim.x * kThreads) {
    const int64_t row = row_of(entries[at]);
    const Pair pair = {row, item_of_list(probes, task.items, q, list_of(lists, row))};
    const RowSums sums = sum_own_pair<kTrained>(code, tables, task.items.values, pair);
    const float key = pair_key<kTrained>(code, task.items.constants[pair.item], row, sums);
    const Ranked ranked = ranked_row(key, row);
    entries[at] = ranked >= threshold ? ranked : 0;
  }
}

}  // namespace

void bound_ranks(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                 const ListScanTask& task, cudaStream_t stream) {
  const unsigned most = (task.best.capacity + kThreads - 1) / kThreads;
  const dim3 grid(std::min(most, kMostBlocks), static_cast<unsigned>(probes.nq));
  const auto kernel = code.is_trained() ? bound_ranks_kernel<true> : bound_ranks_kernel<false>;
  kernel<<<grid, kThreads, 0, stream>>>(code, lists, probes, task);
  POLAR_CUDA_CHECK_LAUNCH(bound_ranks_kernel);
}

}  // namespace polarquant::cuda
