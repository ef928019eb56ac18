// SPDX-License-Identifier: MIT
// Reads the sketches of all rows at the speed of memory: 8 bytes a word and row, side by side for 8
// rows, two population counts a word for each query.
#include <algorithm>

#include "cuda/block_sketches.cuh"
#include "cuda/cuda_check.h"
#include "cuda/sketch_scan.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocksPerMultiprocessor = 8;

/// Candidates of a warp that wait until a whole warp of them is listed at once: all warps add to
/// one counter, so that appending each by itself is slow where many rows are candidates
/// (docs/dev/tuning.md, "CUDA").
template <int kQueries>
struct WaitingRows {
  Ranked rows[kThreads / 32][kQueries][64];
};

/// Lists the first `count` of those that wait.
__device__ void list_waiting(const RankedLists& candidates, int query, const Ranked* waiting,
                             int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32;
  uint32_t place = 0;
  if (lane == 0) place = atomicAdd(candidates.counts + query, static_cast<uint32_t>(count));
  place = __shfl_sync(~0U, place, 0) + static_cast<uint32_t>(lane);
  if (lane < count && place < candidates.capacity)
    candidates.entries[static_cast<size_t>(query) * candidates.capacity + place] = waiting[lane];
  __syncwarp();
}

template <int kWords, int kQueries, bool kThirdBit>
__global__ void __launch_bounds__(kThreads)
    sketch_scan_kernel(CodeView code, QueryView queries, int first, RowMask mask, BlockRange range,
                       const Ranked* thresholds, RankedLists candidates, Ranked* promising,
                       int most_warps) {
  __shared__ QueryConstants constants[kQueries];
  __shared__ float reach[kQueries];
  __shared__ WaitingRows<kQueries> waiting;
  for (int i = threadIdx.x; i < kQueries; i += kThreads) {
    constants[i] = queries.constants[first + i];
    reach[i] = similarity_of(thresholds[first + i]);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const auto warp = static_cast<int>((blockIdx.x * kThreads + threadIdx.x) / 32);
  const int warps = static_cast<int>(gridDim.x) * (kThreads / 32);
  float best[kQueries];
  uint32_t best_row[kQueries];
  int waiting_rows[kQueries];
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    best[q] = -INFINITY;
    best_row[q] = 0;
    waiting_rows[q] = 0;
  }
  // A block at a time, two rows a lane.
  for (int64_t at = warp; at < range.blocks; at += warps) {
    const int64_t block = at * range.stride;
    const LaneSketches<kWords> rows = load_sketches<kWords>(code, block);
#pragma unroll
    for (int r = 0; r < kLaneRows; ++r) {
      const RowTerms terms = terms_of(code, rows.factors[r]);
      const int64_t row = block * kBlockRows + r * 32 + lane;
      const bool kept = mask.keeps(row);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        const int distance = sketch_distance<kWords, kThirdBit>(constants[q], rows.signs[r]);
        const float bound = sketch_bound(constants[q], terms, distance);
        if (kept && bound > best[q]) {
          best[q] = bound;
          best_row[q] = static_cast<uint32_t>(row);
        }
        if (candidates.entries == nullptr) continue;
        const unsigned reached = __ballot_sync(~0U, kept && bound >= reach[q]);
        if (reached == 0) continue;
        Ranked* list = waiting.rows[threadIdx.x / 32][q];
        if (reached >> lane & 1)
          list[waiting_rows[q] + __popc(reached & ((1U << lane) - 1))] = ranked_row(bound, row);
        waiting_rows[q] += __popc(reached);
        if (waiting_rows[q] < 32) continue;
        list_waiting(candidates, first + q, list, 32);
        waiting_rows[q] -= 32;
        if (lane < waiting_rows[q]) list[lane] = list[32 + lane];
      }
    }
  }
  if (candidates.entries != nullptr) {
#pragma unroll
    for (int q = 0; q < kQueries; ++q)
      list_waiting(candidates, first + q, waiting.rows[threadIdx.x / 32][q], waiting_rows[q]);
  }
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    // A lane that read no row has the least of bounds.
    Ranked mine = best[q] > -INFINITY ? ranked_row(best[q], best_row[q]) : 0;
    for (int distance = 16; distance > 0; distance /= 2) {
      const Ranked other = __shfl_xor_sync(~0U, mine, distance);
      mine = other > mine ? other : mine;
    }
    Ranked* named = promising + static_cast<size_t>(first + q) * most_warps;
    if (lane == 0) named[warp] = mine;
    for (int absent = warps + warp; absent < most_warps && lane == 0; absent += warps)
      named[absent] = 0;
  }
}

/// As many blocks as run at once: with more, the last ones begin after all others and are waited
/// for.
template <typename Kernel>
int grid_of(Kernel kernel, int multiprocessors) {
  int resident = 0;
  POLAR_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, 0));
  return multiprocessors * std::clamp(resident, 1, kMostBlocksPerMultiprocessor);
}

template <int kWords, int kQueries, bool kThirdBit>
void launch(const CodeView& code, const QueryView& queries, int first, const RowMask& mask,
            BlockRange range, const Ranked* thresholds, const RankedLists& candidates,
            Ranked* promising, int multiprocessors, cudaStream_t stream) {
  const auto kernel = sketch_scan_kernel<kWords, kQueries, kThirdBit>;
  kernel<<<grid_of(kernel, multiprocessors), kThreads, 0, stream>>>(
      code, queries, first, mask, range, thresholds, candidates, promising,
      sketch_scan_warps(multiprocessors));
  POLAR_CUDA_CHECK_LAUNCH(sketch_scan_kernel);
}

using Launch = decltype(&launch<1, 1, false>);
/// By queries, 1, 2 and 4; three queries are scanned as two and one.
template <int kWords, bool kThirdBit>
Launch launch_of(int by_queries) {
  constexpr Launch kLaunches[] = {launch<kWords, 1, kThirdBit>, launch<kWords, 2, kThirdBit>,
                                  launch<kWords, 4, kThirdBit>};
  return kLaunches[by_queries];
}
template <bool kThirdBit>
Launch launch_of(int words, int by_queries) {
  switch (words) {
    case 1:
      return launch_of<1, kThirdBit>(by_queries);
    case 2:
      return launch_of<2, kThirdBit>(by_queries);
    case 3:
      return launch_of<3, kThirdBit>(by_queries);
    default:
      return launch_of<4, kThirdBit>(by_queries);
  }
}

}  // namespace

int sketch_scan_warps(int multiprocessors) {
  return multiprocessors * kMostBlocksPerMultiprocessor * (kThreads / 32);
}

void sketch_scan(const CodeView& code, const QueryView& queries, int first, int count,
                 const RowMask& mask, BlockRange range, const Ranked* thresholds,
                 const RankedLists& candidates, Ranked* promising, int multiprocessors,
                 cudaStream_t stream) {
  if (count == 3) {
    sketch_scan(code, queries, first, 2, mask, range, thresholds, candidates, promising,
                multiprocessors, stream);
    first += 2;
    count = 1;
  }
  const int by_queries = std::min(count, 3) - 1;
  const Launch launch = code.has_third_bit != 0 ? launch_of<true>(code.sketch_words, by_queries)
                                                : launch_of<false>(code.sketch_words, by_queries);
  launch(code, queries, first, mask, range, thresholds, candidates, promising, multiprocessors,
         stream);
}

}  // namespace polarquant::cuda
