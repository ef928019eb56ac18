// SPDX-License-Identifier: MIT
// Every row scored against a tile of queries by matrix products, thresholds applied to the sums in
// registers: no score that is below its query's threshold leaves a multiprocessor.
//
// A thread block holds a tile of queries, and tables, in shared memory and streams blocks of rows
// past it, a block at a time for each of its warp groups and 16 rows for each warp. Codes are
// copied to shared memory ahead of their use; every thread decodes those bytes of its two rows that
// it holds for the products, straight into registers. Tables are there once for each lane of a warp
// (or several lanes, where a code has several tables), so that lookups do not wait for each other.
#pragma once

#include "cuda/cuda_check.h"
#include "cuda/row_copies.cuh"
#include "cuda/row_terms.cuh"
#include "cuda/shared_limit.h"
#include "cuda/tile_decode.cuh"
#include "cuda/tile_plan.h"
#include "cuda/tile_scan.h"

namespace polarquant::cuda {

template <int kStages>
__device__ ReachTest make_reach_test(const CodeView& code, const QueryConstants& query,
                                     Ranked threshold) {
  // Of what is added: over ten times a float's.
  constexpr float kRounding = 4e-6F;
  if (threshold == 0) return {0, INFINITY};
  const float wanted = goodness_of(threshold);
  const float sizes =
      fabsf(wanted) + fabsf(query.base) + fabsf(query.weight) * code.largest_constant;
  const float missing = wanted - query.base - kRounding * sizes;
  const float unit = kStages == 2 ? 1 : query.dot_scale[0];
  const ReachTest test = {query.weight / unit, -missing / unit};
  // A query of zeros: every row is looked at.
  return isfinite(test.slope) && isfinite(test.intercept) ? test : ReachTest{0, INFINITY};
}

struct TileScan {
  CodeView code;
  QueryView queries;
  RowMask mask;
  BlockRange range;
  const Ranked* thresholds;
  RankedLists hits;
  Ranked* maxima;
  int32_t tiles;
  int32_t buffers;
  int32_t front_warps;  // whose buffers lie in front of the tables
};

/// Puts a row into its query's list if it ranks high enough. Rare, and so out of the way.
template <int kStages>
__device__ __noinline__ void take_hit(const TileScan& scan, const RowTerms& terms, int query,
                                      int64_t row, int32_t dot0, int32_t dot1) {
  if (!scan.mask.keeps(row) || query >= scan.queries.nq) return;
  const QueryConstants& constants = scan.queries.constants[query];
  const float score =
      kStages == 2 ? goodness(constants, terms, dot0, dot1) : goodness(constants, terms, dot0);
  const Ranked ranked = ranked_row(score, row);
  if (ranked != 0 && ranked >= scan.thresholds[query]) append(scan.hits, query, ranked);
}

/// The best of the warp's rows for one query; the lanes of one c have the same query.
template <int kStages>
__device__ inline Ranked best_of_warp(const TileScan& scan, const RowTerms (&terms)[2], int query,
                                      const int64_t (&row)[2], const int32_t (&dot0)[2],
                                      const int32_t (&dot1)[2]) {
  Ranked best = 0;
  if (query < scan.queries.nq) {
    const QueryConstants& constants = scan.queries.constants[query];
    for (int r = 0; r < 2; ++r) {
      if (!scan.mask.keeps(row[r])) continue;
      const float score = kStages == 2 ? goodness(constants, terms[r], dot0[r], dot1[r])
                                       : goodness(constants, terms[r], dot0[r]);
      const Ranked ranked = ranked_row(score, row[r]);
      best = ranked > best ? ranked : best;
    }
  }
  for (int distance = 4; distance < 32; distance *= 2) {
    const Ranked other = __shfl_xor_sync(~0U, best, distance);
    best = other > best ? other : best;
  }
  return best;
}

/// Steps of codes that are not plain.
inline constexpr int kNotPlain = 0;

/// kStep, kSigns: of a plain code (tile_plan.h).
template <int N, int kStages, int kStep, bool kSigns>
__global__ void __launch_bounds__(max_warp_groups(N) * kGroupThreads, 1)
    tile_scan_kernel(const __grid_constant__ TileScan scan) {
  extern __shared__ __align__(128) uint8_t shared[];
  const CodeView& code = scan.code;
  const WarpBuffer buffer(code);
  const int lanes = even(code.segments) * kSegmentLanes;
  // In front of the tables, which lie on a boundary of their size: tests, what tells that rows have
  // arrived, a mask, and the buffers of as many warps as have room. Behind them: queries, then the
  // other warps' buffers.
  uint8_t* tables_at = shared + (kTableBytes - shared_address(shared) % kTableBytes);
  auto* tables = reinterpret_cast<uint32_t*>(tables_at);
  auto* tests = reinterpret_cast<ReachTest*>(shared);
  auto* arrivals = reinterpret_cast<uint64_t*>(tests + N);
  uint64_t* sign_mask = arrivals + kMaxWarps * kMaxBuffers;
  auto* queries = reinterpret_cast<int8_t*>(tables_at + kTableBytes);
  const auto warp_number = threadIdx.x / 32;
  const uint32_t warp_bytes = scan.buffers * buffer.bytes();
  const auto front_warps = static_cast<uint32_t>(scan.front_warps);
  uint8_t* mine = warp_number < front_warps
                      ? reinterpret_cast<uint8_t*>(sign_mask + 2) + warp_number * warp_bytes
                      : reinterpret_cast<uint8_t*>(queries) + static_cast<size_t>(lanes) * N +
                            (warp_number - front_warps) * warp_bytes;
  if (threadIdx.x == 0) *sign_mask = kSignMask;
  const int warp = static_cast<int>(threadIdx.x) / 32 % kGroupWarps;  // of the group
  RowCopies copied(code, mine, arrivals + warp_number * kMaxBuffers, scan.buffers, warp);

  const int tile = static_cast<int>(blockIdx.x) % scan.tiles;
  const int first_query = tile * N;
  const int held = min(N, scan.queries.nq - first_query);
  // Queries, by columns of 16 bytes; 0 where there is none.
  const int query_chunks = code.lanes() / kChunkBytes;
  const int chunks = lanes / kChunkBytes;
  for (int i = threadIdx.x; i < chunks * N; i += blockDim.x) {
    const int n = i % N;
    const int chunk = i / N;
    uint4 bytes = {0, 0, 0, 0};
    if (n < held && chunk < query_chunks)
      bytes = reinterpret_cast<const uint4*>(
          scan.queries.levels)[static_cast<size_t>(first_query + n) * query_chunks + chunk];
    reinterpret_cast<uint4*>(queries)[i] = bytes;
  }
  const auto copies = static_cast<uint32_t>(32 / code.stages);
  for (uint32_t i = threadIdx.x; i < kTableBytes / 4; i += blockDim.x)
    tables[i] = code.tables[i / copies];
  for (int n = threadIdx.x; n < N; n += blockDim.x) {
    tests[n] = n < held && scan.maxima == nullptr
                   ? make_reach_test<kStages>(code, scan.queries.constants[first_query + n],
                                              scan.thresholds[first_query + n])
                   : ReachTest{0, -INFINITY};
  }
  show_to_products();
  __syncthreads();

  const int lane = threadIdx.x % 32;
  const uint32_t mask = load_word(shared_address(sign_mask));
  ThreadRows rows;
  rows.tables = shared_address(tables) | (lane & (copies - 1)) * 4;
  rows.index_shift = 31 - __clz(static_cast<int>(copies)) + 2;
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  const int groups = static_cast<int>(blockDim.x) / kGroupThreads;
  const int64_t step = static_cast<int64_t>(gridDim.x) / scan.tiles * groups;
  int64_t at = static_cast<int64_t>(blockIdx.x) / scan.tiles * groups + group;
  const bool ahead = scan.buffers == kMaxBuffers;
  if (at < scan.range.blocks) copied.begin(at * scan.range.stride);
  for (; at < scan.range.blocks; at += step) {
    const bool more = at + step < scan.range.blocks;
    if (ahead && more) copied.begin((at + step) * scan.range.stride);
    const uint8_t* rows_at = copied.wait(ahead && more);
    const int in_warp = lane / 4;
    RowTerms terms[2];
    int64_t row[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rows.row[r] = {rows_at + buffer.words_offset() + (r * code.front_words * 8 + in_warp) * 8,
                     rows_at + (in_warp + 8 * r) * code.rest_bytes};
      terms[r] = terms_of(code, load_factors(code, rows_at + buffer.factors_offset() +
                                                       (in_warp + 8 * r) * code.factor_bytes()));
      row[r] = at * scan.range.stride * kBlockRows + warp * kWarpRows + in_warp + 8 * r;
    }

    int32_t sums[kStages][N / 8][4];
    if constexpr (kStep != kNotPlain) {
      multiply_plain<N, kStep, kSigns>(code, rows, mask, queries, sums[0]);
    } else {
#pragma unroll
      for (int s = 0; s < kStages; ++s) multiply_stage<N>(code, s, rows, queries, sums[s]);
    }

    // Where there is one buffer the next rows come into it while sums are looked at.
    __syncwarp();
    if (!ahead && more) {
      copied.begin((at + step) * scan.range.stride);
      if (at + 2 * step < scan.range.blocks) copied.announce((at + 2 * step) * scan.range.stride);
    }

    const int first_column = lane % 4 * 2;
    if (scan.maxima != nullptr) {
#pragma unroll
      for (int j = 0; j < N / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int query = first_query + 8 * j + first_column + e;
          const int32_t dot0[2] = {sums[0][j][e], sums[0][j][2 + e]};
          const int32_t dot1[2] = {sums[kStages - 1][j][e], sums[kStages - 1][j][2 + e]};
          const Ranked best = best_of_warp<kStages>(scan, terms, query, row, dot0, dot1);
          if (lane < 4 && query < scan.queries.nq)
            scan.maxima[(static_cast<size_t>(query) * scan.range.blocks + at) * kGroupWarps +
                        warp] = best;
        }
      }
    } else {
      // How far each sum is above what it must reach; the larger of a thread's decides whether it
      // looks at them again.
      const auto above = [&](int j, int e) {
        const auto* test = reinterpret_cast<const ReachTest*>(tests) + 8 * j + first_column + e % 2;
        const RowTerms& of_row = terms[e / 2];
        float x = static_cast<float>(sums[0][j][e]);
        if constexpr (kStages == 2) {
          // Two stages' products are weighed by the query.
          const int query = min(first_query + 8 * j + first_column + e % 2, scan.queries.nq - 1);
          const QueryConstants& constants = scan.queries.constants[query];
          x = constants.dot_scale[0] * x +
              constants.dot_scale[1] * static_cast<float>(sums[kStages - 1][j][e]);
        }
        return __fmaf_rn(of_row.scale, x, __fmaf_rn(test->slope, of_row.constant, test->intercept));
      };
      float highest = -INFINITY;
#pragma unroll
      for (int j = 0; j < N / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) highest = fmaxf(highest, above(j, e));
      }
      if (highest >= 0) {
#pragma unroll
        for (int j = 0; j < N / 8; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (above(j, e) >= 0)
              take_hit<kStages>(scan, terms[e / 2], first_query + 8 * j + first_column + e % 2,
                                row[e / 2], sums[0][j][e], sums[kStages - 1][j][e]);
          }
        }
      }
    }
  }
}

template <int N, int kStages, int kStep, bool kSigns>
void launch_tile_scan(const TileScan& scan, const TilePlan& plan, int grid, cudaStream_t stream) {
  constexpr auto kKernel = tile_scan_kernel<N, kStages, kStep, kSigns>;
  allow_shared_memory<kKernel>();
  kKernel<<<grid, plan.warp_groups * kGroupThreads, plan.shared_bytes, stream>>>(scan);
  POLAR_CUDA_CHECK_LAUNCH(tile_scan_kernel);
}

/// Of plain codes, in tile_scan_plain.cu.
void launch_plain_tile_scan(const TileScan& scan, const TilePlan& plan, int grid,
                            cudaStream_t stream);

}  // namespace polarquant::cuda
