// SPDX-License-Identifier: MIT
#include "cuda/list_scan.h"

#include <algorithm>

#include "cuda/cuda_check.h"
#include "cuda/group_queries.cuh"
#include "cuda/list_of.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// Thread blocks of a scan for each multiprocessor: as many as fit, or twice that.
constexpr int64_t kBlocksPerMultiprocessor = 4;
/// Rows of a warp by sketches: one a lane where there are many rows. Few rows are shared among all
/// warps, since each takes a warp a while.
constexpr int kUnitRows = 32;
constexpr int kFewUnitRows = 4;
/// A thread block has so many units of a list for each of its warps, and one where there are few
/// rows.
constexpr int kGroupUnits = 4;

template <bool kTrained>
__global__ void __launch_bounds__(kThreads)
    bound_ranks_kernel(CodeView code, ListsView lists, ProbesView probes, ItemsView items,
                       int64_t count, Ranked* entries) {
  const int lane = threadIdx.x % 32;
  const size_t q = blockIdx.y;
  const Ranked* probed = probes.lists + q * probes.nprobe;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32; i < count;
       i += static_cast<int64_t>(gridDim.x) * kWarps) {
    Ranked& entry = entries[q * count + i];
    if (entry == 0) continue;
    const int64_t row = row_of(entry);
    const int64_t list = list_of(lists, row);
    // Is one of the probes this list?
    int found = -1;
    for (int first = 0; first < probes.nprobe && found < 0; first += 32) {
      const int probe = first + lane;
      const bool is_it =
          probe < probes.nprobe && probed[probe] != 0 && row_of(probed[probe]) == list;
      const unsigned lanes = __ballot_sync(~0U, is_it);
      if (lanes != 0) found = first + __ffs(static_cast<int>(lanes)) - 1;
    }
    const size_t item = item_of(probes, items, static_cast<int64_t>(q) * probes.nprobe + found);
    const int8_t* values = items.values + item * static_cast<size_t>(code.padded_dim());
    const float key =
        least_bound<kTrained>(code, items.constants[item], values, row, similarity_of(entry),
                              kTrained ? 0 : first_dot(code, values, row));
    if (lane == 0) entry = ranked_row(key, row);
  }
}

}  // namespace

ListScanPlan plan_list_scan(const CodeView& code, const DeviceLists& lists, int64_t nq,
                            int64_t nprobe, bool by_sketches, int multiprocessors) {
  const int64_t tile_items = code.stages == 2 ? kTwoStageTileItems : kTileItems;
  const int64_t group_items = by_sketches ? kSketchItems : tile_items;
  const int64_t items = nq * nprobe;
  const int64_t item_groups = std::min(items, items / group_items + lists.view().count);
  const int64_t blocks = kBlocksPerMultiprocessor * multiprocessors;
  const int64_t many_rows = int64_t{kWarps} * kGroupUnits * kUnitRows;
  const bool few = item_groups * lists.mean() < blocks * many_rows;
  ListScanPlan plan;
  plan.by_sketches = by_sketches;
  plan.group_items = static_cast<uint32_t>(group_items);
  plan.unit_rows = !by_sketches ? kTileRows : few ? kFewUnitRows : kUnitRows;
  plan.group_rows = static_cast<uint32_t>(kWarps * plan.unit_rows * (few ? 1 : kGroupUnits));
  // No more than each list's groups of items times its rows: every group but each list's last is
  // full, and a query probes a list once.
  const int64_t probed = std::min(nprobe * lists.longest(), lists.rows());
  const int64_t rows = nq * probed / group_items + lists.rows() + 1;
  plan.most_groups = item_groups + rows / plan.group_rows + 1;
  plan.blocks = static_cast<unsigned>(std::min(plan.most_groups, blocks));
  return plan;
}

void bound_ranks(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                 const ItemsView& items, int64_t count, Ranked* entries, cudaStream_t stream) {
  constexpr int64_t kMostBlocks = 64;
  const dim3 grid(static_cast<unsigned>(std::min((count + kWarps - 1) / kWarps, kMostBlocks)),
                  static_cast<unsigned>(probes.nq));
  const auto kernel = code.is_trained() ? bound_ranks_kernel<true> : bound_ranks_kernel<false>;
  kernel<<<grid, kThreads, 0, stream>>>(code, lists, probes, items, count, entries);
  POLAR_CUDA_CHECK_LAUNCH(bound_ranks_kernel);
}

}  // namespace polarquant::cuda
