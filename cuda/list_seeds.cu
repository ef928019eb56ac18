// SPDX-License-Identifier: MIT
// The first thresholds of searches with bounds. Thread blocks read the sketches of a query's seeds;
// every eight lanes name the row with the largest bound that they saw, and rank it. The k-th best
// of these is a rank that the answer reaches.
#include "cuda/block_sketches.cuh"
#include "cuda/cuda_check.h"
#include "cuda/list_of.cuh"
#include "cuda/list_scan.h"
#include "cuda/pair_keys.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
static_assert(kWarps * kWarpPairs == kSeedNames);

/// A list that is a seed.
struct Seed {
  int64_t first_block;
  uint32_t item;
  uint32_t rows;
  uint32_t end;  // of its blocks, counted through all seeds
};
struct Seeds {
  Seed list[kMostSeeds];
  int count;
};

/// Called by the first warp.
__device__ void find_seeds(const ListsView& lists, const ProbesView& probes, const ItemsView& items,
                           int64_t q, Seeds* seeds) {
  const int lane = threadIdx.x % 32;
  int count = 0;
  uint32_t blocks = 0;
  for (int first = 0; first < probes.nprobe && count < kMostSeeds; first += 32) {
    const int64_t at = q * probes.nprobe + first + lane;
    const bool is_one =
        first + lane < probes.nprobe && probes.lists[at] != 0 && is_seed(probes, at);
    uint32_t end = 0;
    Seed own = {};
    if (is_one) {
      const int64_t list = row_of(probes.lists[at]);
      own.rows = lists.rows[list];
      own.first_block = lists.first_blocks[list];
      own.item = static_cast<uint32_t>(item_of(probes, items, at));
      end = (own.rows + kBlockRows - 1) / kBlockRows;
    }
    for (int distance = 1; distance < 32; distance *= 2) {
      const uint32_t before = __shfl_up_sync(~0U, end, distance);
      if (lane >= distance) end += before;
    }
    own.end = blocks + end;
    const unsigned found = __ballot_sync(~0U, is_one);
    const int place = count + __popc(found & ((1U << lane) - 1));
    if (is_one && place < kMostSeeds) seeds->list[place] = own;
    count += __popc(found);
    blocks += __shfl_sync(~0U, end, 31);
  }
  if (lane == 0) seeds->count = min(count, kMostSeeds);
}

/// The most promising row that a lane saw.
struct Promising {
  float bound = -INFINITY;
  int64_t row = -1;
  uint32_t item = 0;
};

template <int kWords, bool kTrained>
__device__ void read_block(const CodeView& code, const ListScanTask& task, const Seed& seed,
                           uint32_t block_of_list, Promising* best) {
  const int lane = threadIdx.x % 32;
  const int64_t block = seed.first_block + block_of_list;
  const uint64_t kept = kept_rows(task.allowed, block, seed.rows - block_of_list * kBlockRows);
  if (kept == 0) return;
  const LaneSketches<kWords> rows = load_sketches<kWords>(code, block);
  const QueryConstants& query = task.items.constants[seed.item];
#pragma unroll
  for (int r = 0; r < kLaneRows; ++r) {
    const int distance = sketch_distance<kWords, kTrained>(query, rows.signs[r]);
    const float bound = sketch_bound(query, terms_of(code, rows.factors[r]), distance);
    if ((kept >> (r * 32 + lane) & 1) != 0 && bound > best->bound)
      *best = {bound, block * kBlockRows + r * 32 + lane, seed.item};
  }
}

/// The rank of the most promising row of each eight lanes, for these; 0 if they saw none.
template <bool kTrained>
__device__ Ranked rank_promising(const CodeView& code, const ItemsView& items,
                                 const uint32_t* tables, Promising best) {
#pragma unroll
  for (int distance = 1; distance < kPairLanes; distance *= 2) {
    const float bound = __shfl_xor_sync(~0U, best.bound, distance);
    const int64_t row = __shfl_xor_sync(~0U, best.row, distance);
    const uint32_t item = __shfl_xor_sync(~0U, best.item, distance);
    // Both lanes of a pair choose the same row.
    if (bound > best.bound || (bound == best.bound && row > best.row)) best = {bound, row, item};
  }
  if (__ballot_sync(~0U, best.row >= 0) == 0) return 0;
  const int64_t row = max(best.row, int64_t{0});
  const RowSums sums =
      sum_pair<kTrained>(code, row_bytes(code, row), tables,
                         items.values + static_cast<size_t>(best.item) * code.padded_dim());
  if (best.row < 0) return 0;
  return ranked_row(pair_key<kTrained>(code, items.constants[best.item], row, sums), row);
}

/// Of three blocks a multiprocessor, though some registers are spilled for it, .85 of the time that
/// two take: they wait for memory.
template <int kWords, bool kTrained>
__global__ void __launch_bounds__(kThreads, 3)
    rank_seeds_kernel(CodeView code, ListsView lists, ProbesView probes, ListScanTask task,
                      Ranked* named) {
  __shared__ uint32_t tables[(kTrained ? kMaxParts : kMaxStages) * 256];
  __shared__ Seeds seeds;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads) tables[i] = code.tables[i];
  const int64_t q = blockIdx.y;
  if (threadIdx.x < 32) find_seeds(lists, probes, task.items, q, &seeds);
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const uint32_t blocks = seeds.count > 0 ? seeds.list[seeds.count - 1].end : 0;
  // Each round has an equal share of all blocks, of which a warp's lie kWarps apart.
  const uint32_t begin = static_cast<uint32_t>(uint64_t{blocks} * blockIdx.x / gridDim.x);
  const uint32_t end = static_cast<uint32_t>(uint64_t{blocks} * (blockIdx.x + 1) / gridDim.x);
  int seed = 0;
  Promising best;
  for (uint32_t block = begin + warp; block < end; block += kWarps) {
    while (seeds.list[seed].end <= block) ++seed;
    const uint32_t first = seed > 0 ? seeds.list[seed - 1].end : 0;
    read_block<kWords, kTrained>(code, task, seeds.list[seed], block - first, &best);
  }
  const Ranked rank = rank_promising<kTrained>(code, task.items, tables, best);
  if (threadIdx.x % kPairLanes == 0)
    named[(q * gridDim.x + blockIdx.x) * kSeedNames + threadIdx.x / kPairLanes] = rank;
}

}  // namespace

void rank_seeds(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                const ListScanTask& task, const RankedLists& named, cudaStream_t stream) {
  const auto kernel = sketch_kernel(
      code, [&]<int kWords, bool kTrained>() { return rank_seeds_kernel<kWords, kTrained>; });
  const dim3 grid(named.capacity / kSeedNames, static_cast<unsigned>(probes.nq));
  kernel<<<grid, kThreads, 0, stream>>>(code, lists, probes, task, named.entries);
  POLAR_CUDA_CHECK_LAUNCH(rank_seeds_kernel);
}

}  // namespace polarquant::cuda
