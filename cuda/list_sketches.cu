// SPDX-License-Identifier: MIT
// Scans lists for searches with bounds. A warp reads the sketches of a block of a list once, and
// every query of the group tells which rows its bound keeps. These pairs wait, from group to group,
// until each lane of the warp has one to decode and rank. How many there are differs from block to
// block, so thread blocks take groups, and warps blocks of rows, when they are ready for the next.
#include "cuda/block_sketches.cuh"
#include "cuda/cuda_check.h"
#include "cuda/group_queries.cuh"
#include "cuda/list_scan.h"
#include "cuda/pair_keys.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

using Queries = GroupQueries<kMostItems>;

/// Pairs of a warp that wait. A block of rows adds up to kBlockRows to fewer than 32.
struct WaitingPairs {
  Pair pairs[kWarps][kBlockRows + 32];
};

/// What pairs are ranked with.
struct Ranking {
  const CodeView& code;
  const ListScanTask& task;
  const uint32_t* tables;
};

/// Takes the next of what is counted in `taken`, for a warp.
__device__ uint32_t take_next(uint32_t* taken) {
  uint32_t next = 0;
  if (threadIdx.x % 32 == 0) next = atomicAdd(taken, 1U);
  return __shfl_sync(~0U, next, 0);
}

/// Ranks the first `count` ≤ 32 pairs that wait.
template <bool kTrained>
__device__ void rank_waiting(const Ranking& ranking, const Pair* waiting, int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32;
  if (lane < count) {
    const ItemsView& items = ranking.task.items;
    const Pair pair = waiting[lane];
    const int32_t query = items.queries[pair.item];
    const RowSums sums = sum_own_pair<kTrained>(ranking.code, ranking.tables, items.values, pair);
    const float key = pair_key<kTrained>(ranking.code, items.constants[pair.item], pair.row, sums);
    const Ranked ranked = ranked_row(key, pair.row);
    if (ranked != 0 && ranked >= ranking.task.thresholds[query])
      append(ranking.task.best, query, ranked);
  }
  __syncwarp();
}

/// Scans the rows of a group, by all warps of a block. `taken`: blocks of rows that have been.
/// Returns how many pairs wait in this warp, of which `count` did before.
template <int kWords, bool kTrained>
__device__ int scan_group(const Ranking& ranking, const ItemGroup& group, int64_t first_row,
                          const Queries& queries, uint32_t* taken, Pair* waiting, int count) {
  const CodeView& code = ranking.code;
  const int lane = threadIdx.x % 32;
  uint32_t next = take_next(taken) * kBlockRows;
  while (next < group.rows) {
    const uint32_t first = next;
    next = take_next(taken) * kBlockRows;
    const int64_t block = (first_row + first) / kBlockRows;
    const uint64_t kept = kept_rows(ranking.task.allowed, block, group.rows - first);
    if (kept == 0) continue;
    const LaneSketches<kWords> rows = load_sketches<kWords>(code, block);
    if (next < group.rows)
      prefetch_span(block_sketch(code, (first_row + next) / kBlockRows), code.sketch_bytes());
    const RowTerms terms[kLaneRows] = {terms_of(code, rows.factors[0]),
                                       terms_of(code, rows.factors[1])};
    for (uint32_t slot = 0; slot < group.count; ++slot) {
      const QueryConstants& query = queries.constants[slot];
      const float reach = queries.reach[slot];
#pragma unroll
      for (int r = 0; r < kLaneRows; ++r) {
        const int distance = sketch_distance<kWords, kTrained>(query, rows.signs[r]);
        const bool reaches =
            (kept >> (r * 32 + lane) & 1) != 0 && sketch_bound(query, terms[r], distance) >= reach;
        const unsigned reaching = __ballot_sync(~0U, reaches);
        if (reaches) {
          const int64_t row = block * kBlockRows + r * 32 + lane;
          waiting[count + __popc(reaching & ((1U << lane) - 1))] = {row, group.first_item + slot};
          prefetch_line(code.payloads + row * code.payload_bytes);
        }
        count += __popc(reaching);
      }
      for (; count >= 32; count -= 32) rank_waiting<kTrained>(ranking, waiting + count - 32, 32);
    }
  }
  return count;
}

template <int kWords, bool kTrained>
__global__ void __launch_bounds__(kThreads, 3)
    list_sketches_kernel(CodeView code, ListsView lists, ListScanTask task) {
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kMaxStages) * 256];
  __shared__ Queries queries;
  __shared__ WaitingPairs waiting;
  __shared__ uint32_t taken_group;
  __shared__ uint32_t taken_blocks;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads) tables[i] = code.tables[i];
  const uint32_t groups = group_count(task.items);
  const Ranking ranking = {code, task, tables};
  Pair* own_waiting = waiting.pairs[threadIdx.x / 32];
  int count = 0;
  while (true) {
    __syncthreads();  // no thread still reads the group before
    if (threadIdx.x == 0) {
      taken_group = atomicAdd(task.items.taken_groups, 1U);
      taken_blocks = 0;
    }
    __syncthreads();
    if (taken_group >= groups) break;
    const ItemGroup group = task.items.groups[taken_group];
    load_group(task.items, group, group.count, task.thresholds, &queries);
    __syncthreads();
    const int64_t first_row =
        static_cast<int64_t>(lists.first_blocks[group.list]) * kBlockRows + group.first_row;
    count = scan_group<kWords, kTrained>(ranking, group, first_row, queries, &taken_blocks,
                                         own_waiting, count);
  }
  if (count > 0) rank_waiting<kTrained>(ranking, own_waiting, count);
}

}  // namespace

void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream) {
  const auto kernel = sketch_kernel(
      code, [&]<int kWords, bool kTrained>() { return list_sketches_kernel<kWords, kTrained>; });
  POLAR_CUDA_CHECK(cudaMemsetAsync(task.items.taken_groups, 0, sizeof(uint32_t), stream));
  kernel<<<grid_of(kernel, kThreads, plan), kThreads, 0, stream>>>(code, lists, task);
  POLAR_CUDA_CHECK_LAUNCH(list_sketches_kernel);
}

}  // namespace polarquant::cuda
