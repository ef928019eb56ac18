// SPDX-License-Identifier: MIT
// From probed lists to the queries of each list: counting, a place for each list's items, and half
// a warp for each item, which makes its values.
#include <cfloat>

#include "cuda/cuda_check.h"
#include "cuda/item_values.cuh"
#include "cuda/list_items.h"
#include "cuda/list_of.cuh"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    drop_empty_lists_kernel(ListsView lists, ProbesView probes) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<int64_t>(probes.nq) * probes.nprobe) return;
  const Ranked entry = probes.lists[at];
  if (entry != 0 && lists.rows[row_of(entry)] == 0) probes.lists[at] = 0;
}

__global__ void __launch_bounds__(kThreads) count_items_kernel(ProbesView probes, ItemsView items) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<int64_t>(probes.nq) * probes.nprobe) return;
  const Ranked entry = probes.lists[at];
  if (entry == 0) return;
  uint32_t* counts = is_seed(probes, at) ? items.list_seeds : items.list_others;
  probes.places[at] = atomicAdd(counts + row_of(entry), 1U);
}

/// A list, with the numbers that a search needs.
struct ListItems {
  uint32_t list;
  uint32_t first_item;
  uint32_t count;
  uint32_t seeds;
  uint32_t rows;
};

/// The group of `items` items at most from `done` on, and `rows` rows from `first_row` on.
__device__ ItemGroup group_of(const ListItems& list, uint32_t done, uint32_t items,
                              uint32_t first_row, uint32_t rows) {
  const uint32_t count = min(list.count - done, items);
  return {list.list, list.first_item + done,
          count,     list.seeds > done ? min(list.seeds - done, count) : 0,
          first_row, min(list.rows - first_row, rows)};
}

/// A thread a list. Which lists' items come first does not matter.
__global__ void __launch_bounds__(kThreads) group_items_kernel(ListsView lists, ItemsView items) {
  const int lane = threadIdx.x % 32;
  const int64_t list = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint32_t seeds = list < lists.count ? items.list_seeds[list] : 0;
  const uint32_t count = list < lists.count ? seeds + items.list_others[list] : 0;
  const uint32_t rows = count > 0 ? lists.rows[list] : 0;
  const uint32_t item_groups = (count + items.group_items - 1) / items.group_items;
  const uint32_t groups = item_groups * ((rows + items.group_rows - 1) / items.group_rows);
  const ItemTotals own = static_cast<ItemTotals>(groups) << 32 | count;
  ItemTotals end = own;
  for (int distance = 1; distance < 32; distance *= 2) {
    const ItemTotals other = __shfl_up_sync(~0U, end, distance);
    if (lane >= distance) end += other;
  }
  ItemTotals before = 0;
  if (lane == 31 && end > 0) before = atomicAdd(items.totals, end);
  const ItemTotals start = __shfl_sync(~0U, before, 31) + end - own;
  if (count > 0) items.first_items[list] = static_cast<uint32_t>(start);
  // A warp's lists one after the other, by all lanes.
  const ListItems mine = {static_cast<uint32_t>(list), static_cast<uint32_t>(start), count, seeds,
                          rows};
  for (unsigned left = __ballot_sync(~0U, groups > 0); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const uint32_t list_groups = __shfl_sync(~0U, groups, owner);
    const ItemTotals first_group = __shfl_sync(~0U, start, owner) >> 32;
    const uint32_t together = __shfl_sync(~0U, item_groups, owner);
    const ListItems shown = {
        __shfl_sync(~0U, mine.list, owner), __shfl_sync(~0U, mine.first_item, owner),
        __shfl_sync(~0U, mine.count, owner), __shfl_sync(~0U, mine.seeds, owner),
        __shfl_sync(~0U, mine.rows, owner)};
    for (uint32_t i = lane; i < list_groups; i += 32)
      items.groups[first_group + i] =
          group_of(shown, i % together * items.group_items, items.group_items,
                   i / together * items.group_rows, items.group_rows);
  }
}

/// Makes bounds larger than any score. Not infinite, which times a scale of 0 were no number.
__device__ void remove_bounds(QueryConstants* query) {
  query->sketch_slope = query->signs_sketch_slope = query->signs_payload_slope = 0;
  query->first_slope = query->first_other_slope = query->first_squared_norm_slope = 0;
  query->sketch_margin = query->signs_margin = query->first_margin = FLT_MAX;
}

/// Items of a thread block, each of half a warp.
constexpr int kBlockItems = kThreads / kHalfWarp;
struct ItemParts {
  bool is_one;
  int32_t query_number;
  int64_t list;
  size_t item;
  ResidualQuery query;
  ValueSteps steps;
  Int8Sums sums;
};

__device__ QueryConstants make_item(const CodeView& code, const ListsView& lists,
                                    const ItemQueries& queries, const ItemParts& parts) {
  QueryConstants constants = make_constants(code, lists.values, parts.query, parts.steps);
  if (queries.bounded)
    set_bounds(code, lists.values, parts.sums, parts.steps, queries.exactness, &constants);
  if (queries.filter != nullptr && queries.ranks_few[parts.query_number] != 0 &&
      queries.filter[parts.list].is_few != 0)
    remove_bounds(&constants);
  return constants;
}

__global__ void __launch_bounds__(kThreads)
    prepare_items_kernel(CodeView code, ListsView lists, ProbesView probes, ItemQueries queries,
                         ItemsView items) {
  __shared__ ItemParts made[kBlockItems];
  const int half = threadIdx.x / kHalfWarp;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kBlockItems + half;
  const bool is_probe = at < static_cast<int64_t>(probes.nq) * probes.nprobe;
  const Ranked entry = is_probe ? probes.lists[at] : 0;
  if (entry == 0) {
    made[half].is_one = false;
  } else {
    const auto q = static_cast<int32_t>(at / probes.nprobe);
    const int64_t list = row_of(entry);
    const size_t item = item_of(probes, items, at);
    const ResidualQuery query = move_query(
        code, lists, list, queries.rotated + static_cast<size_t>(q) * code.dim, queries.terms[q]);
    const ValueSteps steps = find_steps(code, query);
    const Int8Sums sums =
        write_values(code, query, steps, queries.bounded,
                     items.values + item * static_cast<size_t>(code.padded_dim()));
    if (threadIdx.x % kHalfWarp == 0) made[half] = {true, q, list, item, query, steps, sums};
  }
  __syncthreads();
  // The rest takes a thread an item, side by side, so that one warp has it for all.
  if (threadIdx.x >= kBlockItems || !made[threadIdx.x].is_one) return;
  const ItemParts& parts = made[threadIdx.x];
  items.constants[parts.item] = make_item(code, lists, queries, parts);
  items.queries[parts.item] = parts.query_number;
}

unsigned blocks_of(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

void drop_empty_lists(const ListsView& lists, const ProbesView& probes, cudaStream_t stream) {
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  drop_empty_lists_kernel<<<blocks_of(count), kThreads, 0, stream>>>(lists, probes);
  POLAR_CUDA_CHECK_LAUNCH(drop_empty_lists_kernel);
}

void count_items(const ListsView& lists, const ProbesView& probes, const ItemsView& items,
                 cudaStream_t stream) {
  const size_t bytes = static_cast<size_t>(lists.count) * sizeof(uint32_t);
  POLAR_CUDA_CHECK(cudaMemsetAsync(items.list_seeds, 0, bytes, stream));
  POLAR_CUDA_CHECK(cudaMemsetAsync(items.list_others, 0, bytes, stream));
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  count_items_kernel<<<blocks_of(count), kThreads, 0, stream>>>(probes, items);
  POLAR_CUDA_CHECK_LAUNCH(count_items_kernel);
}

void group_items(const ListsView& lists, const ItemsView& items, cudaStream_t stream) {
  POLAR_CUDA_CHECK(cudaMemsetAsync(items.totals, 0, sizeof(ItemTotals), stream));
  group_items_kernel<<<blocks_of(lists.count), kThreads, 0, stream>>>(lists, items);
  POLAR_CUDA_CHECK_LAUNCH(group_items_kernel);
}

void prepare_items(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                   ItemQueries queries, const ItemsView& items, cudaStream_t stream) {
  const int64_t count = static_cast<int64_t>(probes.nq) * probes.nprobe;
  queries.exactness = limited_exactness(queries.exactness);
  prepare_items_kernel<<<blocks_of(count * kHalfWarp), kThreads, 0, stream>>>(code, lists, probes,
                                                                              queries, items);
  POLAR_CUDA_CHECK_LAUNCH(prepare_items_kernel);
}

}  // namespace polarquant::cuda
