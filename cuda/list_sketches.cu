// SPDX-License-Identifier: MIT
// Scans the rows of a list for few of its queries. A warp takes up to 32 rows at a time: each lane
// reads one row's sketch, and every query of the group tells which of them its bound keeps. Then
// the warp decodes the rows that any query keeps, one at a time and once for all of them; its lanes
// have groups8 of the row.
#include "cuda/cuda_check.h"
#include "cuda/group_queries.cuh"
#include "cuda/list_scan.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

using Queries = GroupQueries<kSketchItems>;

/// A lane's row.
struct LaneRow {
  uint64_t words[kMaxSketchWords];
  RowTerms terms;
};

__device__ LaneRow load_sketch(const CodeView& code, int64_t row) {
  LaneRow lane_row = {};
  load_sketch_words(code, row_bytes(code, row), lane_row.words);
  lane_row.terms = load_terms(code, row);
  return lane_row;
}

/// The row of another lane.
__device__ LaneRow row_of_lane(const CodeView& code, const LaneRow& row, int lane) {
  LaneRow shared = {};
#pragma unroll
  for (int w = 0; w < kMaxSketchWords; ++w) {
    if (w < code.sketch_words) shared.words[w] = __shfl_sync(~0U, row.words[w], lane);
  }
  shared.terms = {__shfl_sync(~0U, row.terms.scale, lane),
                  __shfl_sync(~0U, row.terms.constant, lane),
                  __shfl_sync(~0U, row.terms.norm, lane)};
  return shared;
}

/// Lane i gets, as bits, the rows that query i's bound keeps.
template <bool kTrained>
__device__ uint32_t candidates_of(const CodeView& code, const Queries& queries, uint32_t count,
                                  bool is_row, const LaneRow& row) {
  uint32_t mine = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const QueryConstants& query = queries.constants[i];
    const float bound =
        sketch_bound(query, row.terms, sketch_distance<kTrained>(code, query, row.words));
    const uint32_t rows = __ballot_sync(~0U, is_row && bound >= queries.reach[i]);
    if (threadIdx.x % 32 == i) mine = rows;
  }
  return mine;
}

/// Scans the rows of a group, by all warps of a block.
template <bool kTrained>
__device__ void scan_group(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                           const ItemGroup& group, uint32_t count, int unit_rows,
                           const uint32_t* tables, const Queries& queries) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int8_t* values =
      task.items.values + static_cast<size_t>(group.first_item) * code.padded_dim();
  const int64_t first_row =
      static_cast<int64_t>(lists.first_blocks[group.list]) * kBlockRows + group.first_row;
  const RowMask mask = {task.allowed, first_row + group.rows};
  for (int64_t first = warp * unit_rows; first < group.rows; first += kWarps * unit_rows) {
    const int64_t own = first_row + first + lane;
    const bool is_row = lane < unit_rows && mask.keeps(own);
    LaneRow lane_row = {};
    if (is_row) lane_row = load_sketch(code, own);
    const uint32_t mine = candidates_of<kTrained>(code, queries, count, is_row, lane_row);
    for (uint32_t left = __reduce_or_sync(~0U, mine); left != 0; left &= left - 1) {
      const int at = __ffs(static_cast<int>(left)) - 1;
      const bool is_mine = (mine >> at & 1) != 0;
      const uint32_t wanted = __ballot_sync(~0U, is_mine);
      const int64_t row = first_row + first + at;
      RowSums sums =
          sum_for_group<kSketchItems, kTrained>(code, row_bytes(code, row), tables, values, wanted);
      const LaneRow shared = row_of_lane(code, lane_row, at);
      if (!is_mine) continue;
      const QueryConstants& query = queries.constants[lane];
      sum_sketch<kTrained>(code, query, shared.words, &sums);
      const Ranked ranked = ranked_row(key_of(code, query, shared.terms, sums, true), row);
      if (ranked != 0 && ranked >= queries.thresholds[lane])
        append(task.best, queries.queries[lane], ranked);
    }
  }
}

template <bool kTrained>
__global__ void __launch_bounds__(kThreads)
    list_sketches_kernel(CodeView code, ListsView lists, ListScanTask task, int unit_rows) {
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kMaxStages) * 256];
  __shared__ Queries queries;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads) tables[i] = code.tables[i];
  const uint32_t groups = *task.items.group_count;
  for (uint32_t i = blockIdx.x; i < groups; i += gridDim.x) {
    const ItemGroup group = task.items.groups[i];
    const uint32_t count = wanted_items(group, task.only_seeds);
    if (count == 0) continue;
    __syncthreads();  // no thread still reads the queries before
    load_group(task.items, group, count, task.thresholds, &queries);
    __syncthreads();
    scan_group<kTrained>(code, lists, task, group, count, unit_rows, tables, queries);
  }
}

}  // namespace

void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream) {
  const auto kernel = code.is_trained() ? list_sketches_kernel<true> : list_sketches_kernel<false>;
  kernel<<<plan.blocks, kThreads, 0, stream>>>(code, lists, task, plan.unit_rows);
  POLAR_CUDA_CHECK_LAUNCH(list_sketches_kernel);
}

}  // namespace polarquant::cuda
