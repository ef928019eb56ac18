// SPDX-License-Identifier: MIT
// Scans lists for searches with bounds. A warp reads the sketches of a block of a list once, and
// every query of the group tells which rows its bound keeps. These pairs wait until a whole warp of
// them is decoded and ranked together.
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

/// Pairs of a warp that wait: rows of the group, and items in the upper half. A block of rows adds
/// up to kBlockRows to fewer than 32.
struct WaitingPairs {
  uint32_t pairs[kWarps][kBlockRows + 32];
};
constexpr int kItemShift = 16;

/// A group's rows and queries.
struct ScannedGroup {
  int64_t first_row;
  uint32_t first_item;
  const uint32_t* tables;
  const Queries* queries;
};

/// Ranks the first `count` ≤ 32 pairs that wait.
template <bool kTrained>
__device__ void rank_waiting(const CodeView& code, const ListScanTask& task,
                             const ScannedGroup& group, const uint32_t* waiting, int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32;
  const uint32_t own = waiting[min(lane, count - 1)];
  const uint32_t slot = own >> kItemShift;
  const Pair pair = {group.first_row + (own & ((1U << kItemShift) - 1)), group.first_item + slot};
  const RowSums sums = sum_pairs<kTrained>(code, group.tables, task.items.values, pair, count);
  if (lane < count) {
    const Queries& queries = *group.queries;
    const float key = pair_key<kTrained>(code, queries.constants[slot], pair.row, sums);
    const Ranked ranked = ranked_row(key, pair.row);
    if (ranked != 0 && ranked >= queries.thresholds[slot])
      append(task.best, queries.queries[slot], ranked);
  }
  __syncwarp();
}

/// Scans the rows of a group, by all warps of a block.
template <int kWords, bool kTrained>
__device__ void scan_group(const CodeView& code, const ListScanTask& task, const ItemGroup& group,
                           const ScannedGroup& scanned, uint32_t* waiting) {
  const int lane = threadIdx.x % 32;
  const Queries& queries = *scanned.queries;
  int count = 0;
  for (uint32_t first = threadIdx.x / 32 * kBlockRows; first < group.rows;
       first += kWarps * kBlockRows) {
    const int64_t block = (scanned.first_row + first) / kBlockRows;
    const uint64_t kept = kept_rows(task.allowed, block, group.rows - first);
    if (kept == 0) continue;
    const LaneSketches<kWords> rows = load_sketches<kWords>(code, block);
    if (first + kWarps * kBlockRows < group.rows)
      prefetch_span(block_sketch(code, block + kWarps), code.sketch_bytes());
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
          waiting[count + __popc(reaching & ((1U << lane) - 1))] =
              slot << kItemShift | (first + r * 32 + lane);
          prefetch_line(code.payloads + (block * kBlockRows + r * 32 + lane) * code.payload_bytes);
        }
        count += __popc(reaching);
      }
      for (; count >= 32; count -= 32)
        rank_waiting<kTrained>(code, task, scanned, waiting + count - 32, 32);
    }
  }
  if (count > 0) rank_waiting<kTrained>(code, task, scanned, waiting, count);
}

template <int kWords, bool kTrained>
__global__ void __launch_bounds__(kThreads, 3)
    list_sketches_kernel(CodeView code, ListsView lists, ListScanTask task) {
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kMaxStages) * 256];
  __shared__ Queries queries;
  __shared__ WaitingPairs waiting;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads) tables[i] = code.tables[i];
  const uint32_t groups = *task.items.group_count;
  for (uint32_t i = blockIdx.x; i < groups; i += gridDim.x) {
    const ItemGroup group = task.items.groups[i];
    __syncthreads();  // no thread still reads the queries before
    load_group(task.items, group, group.count, task.thresholds, &queries);
    __syncthreads();
    const int64_t first_row =
        static_cast<int64_t>(lists.first_blocks[group.list]) * kBlockRows + group.first_row;
    scan_group<kWords, kTrained>(code, task, group, {first_row, group.first_item, tables, &queries},
                                 waiting.pairs[threadIdx.x / 32]);
  }
}

template <bool kTrained>
auto kernel_for(int words) {
  switch (words) {
    case 1:
      return list_sketches_kernel<1, kTrained>;
    case 2:
      return list_sketches_kernel<2, kTrained>;
    case 3:
      return list_sketches_kernel<3, kTrained>;
    default:
      return list_sketches_kernel<4, kTrained>;
  }
}

}  // namespace

void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream) {
  const auto kernel = code.is_trained() ? kernel_for<true>(code.sketch_words)
                                        : kernel_for<false>(code.sketch_words);
  kernel<<<grid_of(kernel, kThreads, plan), kThreads, 0, stream>>>(code, lists, task);
  POLAR_CUDA_CHECK_LAUNCH(list_sketches_kernel);
}

}  // namespace polarquant::cuda
