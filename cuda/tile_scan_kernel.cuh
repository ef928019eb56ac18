// SPDX-License-Identifier: MIT
// Every row scored against a tile of queries by matrix products, thresholds applied to the sums in
// registers: no score that is below its query's threshold leaves a multiprocessor.
//
// A thread block has a tile of queries, and tables, in shared memory and goes through blocks of
// rows, a block at a time for each of its warp groups and 16 rows for each warp. Codes are copied
// to shared memory ahead of their use; every thread decodes its bytes of two rows straight into the
// registers of the products. Each lane of a warp has a copy of the tables (or several lanes share
// one, where a code has several tables), so that lookups do not wait for each other.
#pragma once

#include "cuda/cuda_check.h"
#include "cuda/row_copies.cuh"
#include "cuda/row_terms.cuh"
#include "cuda/shared_limit.h"
#include "cuda/tile_decode.cuh"
#include "cuda/tile_plan.h"
#include "cuda/tile_scan.h"

namespace polarquant::cuda {

/// Steps of codes that are not plain, and of trained ones.
inline constexpr int kNotPlain = 0;
inline constexpr int kTrained = -1;
inline constexpr int kAnyTrained = -2;  // those without whole segments, too
inline constexpr uint32_t kSignBit = 0x80000000U;
template <int kStep>
inline constexpr bool kIsTrained = kStep < 0;

/// What one of a query's sums counts for in its score.
template <int kStages, int kStep>
__device__ float unit_of(const QueryView& queries, int query) {
  if constexpr (kIsTrained<kStep>) return queries.tile_terms[query].unit;
  return kStages == 2 ? 1 : queries.constants[query].dot_scale[0];
}

/// The test without a threshold, so that rows are compared with each other.
__device__ inline ReachTest make_test(const QueryConstants& query, float unit) {
  const ReachTest test = {query.weight / unit, 0};
  return isfinite(test.slope) ? test : ReachTest{0, 0};
}
__device__ inline ReachTest make_reach_test(const CodeView& code, const QueryConstants& query,
                                            float unit, Ranked threshold) {
  // Of each term: over ten times a float's.
  constexpr float kRounding = 4e-6F;
  if (threshold == 0) return {0, INFINITY};
  const float wanted = similarity_of(threshold);
  const float sizes =
      fabsf(wanted) + fabsf(query.base) + fabsf(query.weight) * code.largest_constant;
  const float missing = wanted - query.base - kRounding * sizes;
  const ReachTest test = {query.weight / unit, -missing / unit};
  // For a query of zeros every row passes.
  return isfinite(test.slope) && isfinite(test.intercept) ? test : ReachTest{0, INFINITY};
}

struct TileScan {
  CodeView code;
  QueryView queries;
  RowMask mask;
  BlockRange range;
  const Ranked* thresholds;
  RankedLists matches;
  Ranked* maxima;
  int32_t tiles;
  int32_t buffers;
  int32_t sketch_warps;  // whose buffers lie before the tables
  int32_t quads;
  TileTables tables;
};

/// Puts a warp's matches into their queries' lists if they rank high enough, one for each lane.
/// Rare, and so not inlined. Those of trained codes reach for all that their sums tell.
template <int kStages, int kStep>
__device__ __noinline__ void take_matches(const TileScan& scan, const Match* matches, int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32;
  if (lane < count) {
    const Match& match = matches[lane];
    Ranked ranked;
    if constexpr (kIsTrained<kStep>) {
      ranked = ranked_row(INFINITY, match.row);
    } else {
      const QueryConstants& constants = scan.queries.constants[match.query];
      const RowTerms terms = load_terms(scan.code, match.row);
      const float score = kStages == 2
                              ? similarity(constants, terms, match.dots[0], match.dots[kStages - 1])
                              : similarity(constants, terms, match.dots[0]);
      ranked = ranked_row(score, match.row);
    }
    if (ranked != 0 && ranked >= scan.thresholds[match.query] && scan.mask.keeps(match.row))
      append(scan.matches, match.query, ranked);
  }
  __syncwarp();
}

/// The most promising of a warp's 16 rows for each of kCount queries: its value to 28 bits and its
/// number, 0 for none, and its sums.
template <int kStages, int kCount>
struct Promising {
  uint32_t keys[kCount];
  int32_t dots[kStages][kCount];
};

/// Halves a lane's queries: it goes on with those of one half, its partner with the others. A
/// single query is both's.
template <int kCount, int kStages, int kCapacity>
__device__ inline void share_promising(int distance, Promising<kStages, kCapacity>* promising) {
  constexpr int kHalf = kCount > 1 ? kCount / 2 : 0;
  const bool upper = (threadIdx.x & static_cast<unsigned>(distance)) != 0;
#pragma unroll
  for (int i = 0; i < (kCount > 1 ? kHalf : 1); ++i) {
    const auto kept = [&](const auto& values) { return upper ? values[i + kHalf] : values[i]; };
    const auto given = [&](const auto& values) {
      return __shfl_xor_sync(~0U, upper ? values[i] : values[i + kHalf], distance);
    };
    const uint32_t own = kept(promising->keys);
    const uint32_t other = given(promising->keys);
    promising->keys[i] = max(own, other);
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      const int32_t own_dot = kept(promising->dots[s]);
      const int32_t other_dot = given(promising->dots[s]);
      promising->dots[s][i] = other > own ? other_dot : own_dot;
    }
  }
}

/// Names one of the warp's rows for each query of the tile: about the best, by `value(j, e)`, but
/// with its own rank, to places kGroupWarps·blocks apart. Computing the ranks of all rows is slower
/// (docs/dev/tuning.md, "CUDA"). That of a trained code is about its score.
template <int N, int kStages, int kStep, typename Value>
__device__ inline void name_promising(const TileScan& scan, int first_query, int64_t first_row,
                                      const int32_t (&sums)[kStages][N / 8][4], Ranked* maxima,
                                      const Value& value) {
  constexpr int kValues = N / 4;  // queries of a thread: value 2j + e is of query 8j + 2c + e
  constexpr auto kAfter = [](int count) { return count > 1 ? count / 2 : 1; };
  constexpr int kOnce = kAfter(kValues);
  constexpr int kTwice = kAfter(kOnce);
  constexpr int kLeft = kAfter(kTwice);
  const auto lane = threadIdx.x % 32;
  const uint32_t number = lane / 4;  // and 8 more
  const uint32_t kept[2] = {scan.mask.keeps(first_row + number) ? ~0U : 0,
                            scan.mask.keeps(first_row + number + 8) ? ~0U : 0};
  Promising<kStages, kValues> promising;
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    const int j = i / 2;
    const int e = i % 2;
    const uint32_t low = ((ordered(value(j, e)) & ~15U) | number) & kept[0];
    const uint32_t high = ((ordered(value(j, 2 + e)) & ~15U) | number | 8) & kept[1];
    promising.keys[i] = max(low, high);
#pragma unroll
    for (int s = 0; s < kStages; ++s)
      promising.dots[s][i] = high > low ? sums[s][j][2 + e] : sums[s][j][e];
  }
  share_promising<kValues>(16, &promising);
  share_promising<kOnce>(8, &promising);
  share_promising<kTwice>(4, &promising);
  const uint32_t first = (lane & 16) / 16 * (kValues - kOnce) + (lane & 8) / 8 * (kOnce - kTwice) +
                         (lane & 4) / 4 * (kTwice - kLeft);
#pragma unroll
  for (int i = 0; i < kLeft; ++i) {
    const uint32_t place = first + i;
    const auto query = static_cast<int>(first_query + place / 2 * 8 + lane % 4 * 2 + place % 2);
    if (query >= scan.queries.nq) continue;
    Ranked best = 0;
    if (promising.keys[i] != 0) {
      const int64_t row = first_row + (promising.keys[i] & 15);
      const QueryConstants& constants = scan.queries.constants[query];
      const RowTerms terms = load_terms(scan.code, row);
      float score;
      if constexpr (kIsTrained<kStep>) {
        const float unit = scan.queries.tile_terms[query].unit;
        score = constants.base + constants.weight * terms.constant +
                terms.scale * (unit * static_cast<float>(promising.dots[0][i]));
      } else if constexpr (kStages == 2) {
        score = similarity(constants, terms, promising.dots[0][i], promising.dots[1][i]);
      } else {
        score = similarity(constants, terms, promising.dots[0][i]);
      }
      best = ranked_row(score, row);
    }
    maxima[static_cast<size_t>(query) * scan.range.blocks * kGroupWarps] = best;
  }
}

/// Puts 16 bytes of a query's values, `chunk` of a segment's after the other, to their place for
/// products in a tile of N queries.
template <int N>
__device__ inline void place_chunk(uint4 bytes, int chunk, int quads, int8_t* query) {
  const int segment = chunk / kChunksPerSegment;
  const auto place = [&](int at) {
    return reinterpret_cast<uint32_t*>(query + at * kChunkBytes * N);
  };
  if (segment >= quads * kQuadSegments) {
    *reinterpret_cast<uint4*>(place(chunk)) = bytes;
    return;
  }
  // In a quad a segment's words come from its four groups8, which are in as many products.
  const int c = segment % kQuadSegments;
  const int first = chunk - c * kChunksPerSegment;
  place(first)[c] = bytes.x;
  place(first + kChunksPerSegment)[c] = bytes.y;
  place(first + 2 * kChunksPerSegment)[c] = bytes.z;
  place(first + 3 * kChunksPerSegment)[c] = bytes.w;
}

/// kStep, kSigns: those of a plain code (tile_plan.h).
template <int N, int kStages, int kStep, bool kSigns>
__global__ void __launch_bounds__(max_warp_groups(N) * kGroupThreads, 1)
    tile_scan_kernel(const __grid_constant__ TileScan scan) {
  extern __shared__ __align__(128) uint8_t shared[];
  const CodeView& code = scan.code;
  const WarpBuffer buffer(code);
  const int lanes = even(code.segments) * kSegmentDims;
  // Before the tables, which lie on a boundary of their size: tests, the barriers of arriving rows,
  // a mask, and the buffers of as many warps as fit. After them: queries, matches, then the other
  // warps' buffers.
  uint8_t* tables_at = shared + (kTableBytes - shared_address(shared) % kTableBytes);
  auto* tables = reinterpret_cast<uint32_t*>(tables_at);
  auto* tests = reinterpret_cast<ReachTest*>(shared);
  auto* arrivals = reinterpret_cast<uint64_t*>(tests + N);
  uint64_t* sign_mask = arrivals + kMaxWarps * kMaxBuffers;
  const uint32_t table_bytes = kIsTrained<kStep> ? scan.tables.bytes : kTableBytes;
  auto* queries = reinterpret_cast<int8_t*>(tables_at + table_bytes);
  // The same number in a whole warp, which compilers see when one lane gives it.
  const uint32_t warp_number = __shfl_sync(~0U, threadIdx.x / 32, 0);
  auto* matches_at = reinterpret_cast<Match*>(queries + static_cast<size_t>(lanes) * N);
  Match* waiting_matches = matches_at + warp_number * kWaitingMatches;
  // Of a trained code.
  auto* parts = reinterpret_cast<TilePart*>(matches_at + blockDim.x / 32 * kWaitingMatches);
  auto* changes = reinterpret_cast<StageChange*>(parts + (kIsTrained<kStep> ? kMaxParts : 0));
  auto* buffers_at = reinterpret_cast<uint8_t*>(changes + (kIsTrained<kStep> ? N : 0));
  const uint32_t warp_bytes = scan.buffers * buffer.bytes();
  const auto sketch_warps = static_cast<uint32_t>(scan.sketch_warps);
  uint8_t* mine = warp_number < sketch_warps
                      ? reinterpret_cast<uint8_t*>(sign_mask + 2) + warp_number * warp_bytes
                      : buffers_at + (warp_number - sketch_warps) * warp_bytes;
  if (threadIdx.x == 0) *sign_mask = kSignMask;
  const int warp = static_cast<int>(warp_number) % kGroupWarps;  // in the group
  const int group = static_cast<int>(warp_number) / kGroupWarps;
  const int groups = static_cast<int>(blockDim.x) / kGroupThreads;
  const int64_t step = static_cast<int64_t>(gridDim.x) / scan.tiles * groups;
  int64_t at = static_cast<int64_t>(blockIdx.x) / scan.tiles * groups + group;
  RowCopies copied(code, mine, arrivals + warp_number * kMaxBuffers, scan.buffers, warp,
                   at * scan.range.stride, step * scan.range.stride);

  const int tile = static_cast<int>(blockIdx.x) % scan.tiles;
  const int first_query = tile * N;
  const int query_count = min(N, scan.queries.nq - first_query);
  // Queries, by columns of 16 bytes; 0 where there is none.
  const int query_chunks = code.padded_dim() / kChunkBytes;
  const int chunks = lanes / kChunkBytes;
#pragma unroll 4
  for (int i = threadIdx.x; i < chunks * N; i += blockDim.x) {
    const int n = i % N;
    const int chunk = i / N;
    uint4 bytes = {0, 0, 0, 0};
    if (n < query_count && chunk < query_chunks)
      bytes = reinterpret_cast<const uint4*>(
          kIsTrained<kStep>
              ? scan.queries.tile_values
              : scan.queries.values)[static_cast<size_t>(first_query + n) * query_chunks + chunk];
    place_chunk<N>(bytes, chunk, scan.quads, queries + n * kChunkBytes);
  }
  const auto copies = static_cast<uint32_t>(32 / code.stages);
  if constexpr (kIsTrained<kStep>) {
    for (int t = 0; t < code.table_count; ++t) {
      const int copies_log2 = scan.tables.index_shift[t] - 2;
      const uint32_t words = 1U << (code.part[t].index_bits + copies_log2);
      for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        tables[scan.tables.place[t] / 4 + i] = code.tables[t * 256 + (i >> copies_log2)];
    }
    if constexpr (kStep == kTrained) {
      for (int p = threadIdx.x; p < code.table_count; p += blockDim.x)
        parts[p] = tile_part(code, scan.tables, p);
    }
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
      const TileTerms terms =
          n < query_count ? scan.queries.tile_terms[first_query + n] : TileTerms{};
      changes[n] = {terms.factor, terms.margin};
    }
  } else {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < kTableBytes / 4; i += blockDim.x)
      tables[i] = code.tables[i / copies];
  }
  for (int n = threadIdx.x; n < N; n += blockDim.x) {
    tests[n] = {0, -INFINITY};
    if (n >= query_count) continue;
    const QueryConstants& constants = scan.queries.constants[first_query + n];
    const float unit = unit_of<kStages, kStep>(scan.queries, first_query + n);
    tests[n] = scan.maxima != nullptr
                   ? make_test(constants, unit)
                   : make_reach_test(code, constants, unit, scan.thresholds[first_query + n]);
  }
  show_to_products();
  __syncthreads();

  const int lane = threadIdx.x % 32;
  const uint32_t mask = load_word(shared_address(sign_mask));
  ThreadRows rows;
  rows.tables = shared_address(tables) | (lane & (copies - 1)) * 4;
  rows.index_shift = 31 - __clz(static_cast<int>(copies)) + 2;
  const bool ahead = scan.buffers == kMaxBuffers;
  int waiting = 0;  // matches
  // A bit for each of the warp's rows of a block, asked for while it has those before.
  const auto warp_mask = [&](int64_t number) -> uint32_t {
    if (scan.mask.allowed == nullptr) return ~0U;
    return reinterpret_cast<const uint16_t*>(scan.mask.allowed + number * scan.range.stride)[warp];
  };
  uint32_t kept = 0;
  if (at < scan.range.blocks) {
    copied.begin();
    kept = warp_mask(at);
  }
  for (; at < scan.range.blocks; at += step) {
    const bool more = at + step < scan.range.blocks;
    if (ahead && more) copied.begin();
    const uint8_t* rows_at = copied.wait(ahead && more);
    const int in_warp = lane / 4;
    RowTerms terms[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rows.row[r] = {rows_at + buffer.words_offset() + (r * code.sketch_words * 8 + in_warp) * 8,
                     rows_at + buffer.payloads_offset() + (in_warp + 8 * r) * code.payload_bytes};
      terms[r] =
          terms_of(code, load_factors(code, rows_at + (in_warp + 8 * r) * code.factor_bytes()));
    }
    const auto row_number = [&](int r) {
      return at * scan.range.stride * kBlockRows + warp * kWarpRows + in_warp + 8 * r;
    };
    // The sign bit where a row is left out.
    const uint32_t left_out[2] = {~kept << (31 - in_warp) & kSignBit,
                                  ~kept << (23 - in_warp) & kSignBit};
    if (more) kept = warp_mask(at + step);

    // With one buffer the next rows come into it as soon as these have been read.
    const auto begin_next = [&] {
      __syncwarp();
      if (ahead || !more) return;
      copied.begin();
      if (at + 2 * step < scan.range.blocks) copied.announce();
    };
    int32_t sums[kStages][N / 8][4];
    if constexpr (kStep == kTrained) {
      TrainedRows trained(code, rows.row, shared_address(tables), mask);
      multiply_trained<N>(code, trained, parts, changes, queries, sums[0], begin_next);
    } else if constexpr (kStep == kAnyTrained) {
      AnyTrainedRows trained(code, rows.row, scan.tables, shared_address(tables));
      multiply_any_trained<N>(code, trained, changes, queries, sums[0]);
      begin_next();
    } else if constexpr (kStep != kNotPlain) {
      multiply_plain<N, kStep, kSigns>(code, scan.quads, rows, mask, queries, sums[0], begin_next);
    } else {
#pragma unroll
      for (int s = 0; s < kStages; ++s) multiply_stage<N>(code, s, rows, queries, sums[s]);
      begin_next();
    }

    const int first_column = lane % 4 * 2;
    // How far a sum is above the least that reaches.
    const auto above = [&](int j, int e) {
      const auto* test = reinterpret_cast<const ReachTest*>(tests) + 8 * j + first_column + e % 2;
      const RowTerms& row = terms[e / 2];
      float x = static_cast<float>(sums[0][j][e]);
      if constexpr (kStages == 2) {
        // Two stages' products are weighed by the query.
        const int query = min(first_query + 8 * j + first_column + e % 2, scan.queries.nq - 1);
        const QueryConstants& constants = scan.queries.constants[query];
        x = constants.dot_scale[0] * x +
            constants.dot_scale[1] * static_cast<float>(sums[kStages - 1][j][e]);
      }
      return __fmaf_rn(row.scale, x, __fmaf_rn(test->slope, row.constant, test->intercept));
    };
    if (scan.maxima != nullptr) {
      name_promising<N, kStages, kStep>(scan, first_query, row_number(0) - in_warp, sums,
                                        scan.maxima + at * kGroupWarps + warp, above);
    } else {
      // By groups, so that few sums are tested again. Matches wait for others: ranking each at
      // once, from memory, would hold up its whole warp group (docs/dev/tuning.md, "CUDA").
      constexpr int kGroupColumns = N / 8 < 4 ? N / 8 : 4;
      constexpr int kColumnGroups = N / 8 / kGroupColumns;
      uint32_t below[kColumnGroups];  // its sign
#pragma unroll
      for (int g = 0; g < kColumnGroups; ++g) {
        below[g] = ~0U;
#pragma unroll
        for (int i = 0; i < 4 * kGroupColumns; ++i)
          below[g] &=
              __float_as_uint(above(g * kGroupColumns + i / 4, i % 4)) | left_out[i % 4 / 2];
      }
#pragma unroll
      for (int g = 0; g < kColumnGroups; ++g) {
        if (!__any_sync(~0U, (below[g] >> 31) == 0)) continue;
#pragma unroll
        for (int i = 0; i < 4 * kGroupColumns; ++i) {
          const int j = g * kGroupColumns + i / 4;
          const int e = i % 4;
          const int query = first_query + 8 * j + first_column + e % 2;
          const bool reaches = above(j, e) >= 0 && query < scan.queries.nq && left_out[e / 2] == 0;
          const uint32_t reaching = __ballot_sync(~0U, reaches);
          if (reaching == 0) continue;
          const int more = __popc(reaching);
          if (waiting + more > kWaitingMatches) {
            take_matches<kStages, kStep>(scan, waiting_matches, waiting);
            waiting = 0;
          }
          if (reaches) {
            Match& match = waiting_matches[waiting + __popc(reaching & ((1U << lane) - 1))];
            match.row = static_cast<uint32_t>(row_number(e / 2));
            match.query = query;
#pragma unroll
            for (int s = 0; s < kStages; ++s) match.dots[s] = sums[s][j][e];
          }
          waiting += more;
        }
      }
    }
  }
  take_matches<kStages, kStep>(scan, waiting_matches, waiting);
}

template <int N, int kStages, int kStep, bool kSigns>
void launch_tile_scan(const TileScan& scan, const TilePlan& plan, int grid, cudaStream_t stream) {
  constexpr auto kKernel = tile_scan_kernel<N, kStages, kStep, kSigns>;
  allow_shared_memory<kKernel>();
  kKernel<<<grid, plan.warp_groups * kGroupThreads, plan.shared_bytes, stream>>>(scan);
  POLAR_CUDA_CHECK_LAUNCH(tile_scan_kernel);
}

/// For trained codes, in tile_scan_trained.cu.
void launch_trained_tile_scan(const TileScan& scan, const TilePlan& plan, int grid,
                              cudaStream_t stream);
/// For plain codes, in tile_scan_plain.cu.
void launch_plain_tile_scan(const TileScan& scan, const TilePlan& plan, int grid,
                            cudaStream_t stream);

}  // namespace polarquant::cuda
