// SPDX-License-Identifier: MIT
// Single rows, a warp each: for the candidates of a scan. Every number of
// src/scan/model/row_values.h is computed here.
#include <type_traits>

#include "cuda/candidate_scores.h"
#include "cuda/cuda_check.h"
#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// A group8's words of a query, 16 bytes apart.
__device__ int32_t group8_dot(const uint32_t words[4], const int8_t* values, int segment, int c,
                              int32_t sum) {
  const auto* query = reinterpret_cast<const int32_t*>(values + segment * kSegmentDims) + c;
#pragma unroll
  for (int u = 0; u < 4; ++u) sum = __dp4a(static_cast<int>(words[u]), query[4 * u], sum);
  return sum;
}

/// The sums of the sketch, for a warp: its distance, and for split stages the other sum.
__device__ void sum_sketch(const CodeView& code, const QueryConstants& query, const RowBytes& row,
                           RowSums* sums) {
  const int lane = threadIdx.x % 32;
  int own = 0;
  if (lane < code.sketch_words) {
    const auto word = *reinterpret_cast<const unsigned long long*>(row.sketch + 64 * lane);
    own = word_distance(query, lane, word);
    if (lane == 0 && code.is_trained()) own += third_bit_distance(query, word);
  }
  sums->distance = static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(own)));
  if (code.second_stage == 0) return;
  const unsigned later = lane >= code.first_stage_words ? static_cast<unsigned>(own) : 0;
  sums->payload_dot = query.later_weight - 2 * static_cast<int32_t>(__reduce_add_sync(~0U, later));
}

/// A code's tables in shared memory, and the segments of a trained one.
struct PlainTables {
  uint32_t tables[kMaxStages * 256];
};
struct TrainedTables {
  static constexpr int kMostSegments = 128;
  uint32_t tables[kMaxParts * 256];
  SegmentView plan[kMostSegments];
};

/// All lanes of the warp get the sums.
__device__ RowSums sum_row(const CodeView& code, const QueryView& queries, int q, bool bounded,
                           const RowBytes& row, const TrainedTables& near) {
  const int8_t* values = queries.values + static_cast<size_t>(q) * code.padded_dim();
  int32_t dots[kMaxStages] = {0, 0};
  RowSums sums;
  for (int group8 = threadIdx.x % 32; group8 < code.coded_segments * kGroupsPerSegment;
       group8 += 32) {
    const int segment = group8 / kGroupsPerSegment;
    const int c = group8 % kGroupsPerSegment;
    const SegmentView& view = near.plan[segment];
    const Group8Codes codes = load_trained_group8(code, view, row, segment, c);
    uint32_t words[4];
    decode_trained_group8(view, codes, near.tables, words);
    if (code.stage_of(segment) == 0) {
      dots[0] = group8_dot(words, values, segment, c, dots[0]);
      if (code.second_stage > 0) sums.squared_norm = add_squares(words, sums.squared_norm);
    } else {
      dots[1] = group8_dot(words, values, segment, c, dots[1]);
    }
    if (bounded && code.second_stage == 0 && segment >= code.sketch_words &&
        segment < code.sign_words) {
#pragma unroll
      for (int u = 0; u < 4; ++u) words[u] = sign_values(codes.signs, u);
      sums.payload_dot = group8_dot(words, values, segment, c, sums.payload_dot);
    }
  }
  const auto total = [](int32_t own) {
    return static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(own)));
  };
  sums.dot[0] = total(dots[0]);
  sums.dot[1] = total(dots[1]);
  if (!bounded) return sums;
  sums.squared_norm = total(sums.squared_norm);
  sums.payload_dot = total(sums.payload_dot);
  sum_sketch(code, queries.constants[q], row, &sums);
  return sums;
}

/// All lanes of the warp get the sums.
__device__ RowSums sum_row(const CodeView& code, const QueryView& queries, int q, bool bounded,
                           const RowBytes& row, const PlainTables& near) {
  const int lane = threadIdx.x % 32;
  const int8_t* values = queries.values + static_cast<size_t>(q) * code.padded_dim();
  RowSums sums;
  for (int s = 0; s < code.stages; ++s) {
    const StageView& stage = code.stage[s];
    const uint32_t* table = near.tables + s * 256;
    int32_t dot = 0;
    for (int group8 = lane; group8 < code.segments * kGroupsPerSegment; group8 += 32) {
      const int segment = group8 / kGroupsPerSegment;
      const int c = group8 % kGroupsPerSegment;
      const Group8Codes codes = load_group8(code, stage, row, segment, c);
      uint32_t words[4];
      decode_group8(
          stage, codes, [&](uint32_t index) { return table[index]; }, words);
      dot = group8_dot(words, values, segment, c, dot);
      if (bounded && s == 0 && segment >= code.sketch_words && segment < code.sign_words) {
#pragma unroll
        for (int u = 0; u < 4; ++u) words[u] = sign_values(codes.signs, u);
        sums.payload_dot = group8_dot(words, values, segment, c, sums.payload_dot);
      }
    }
    sums.dot[s] = static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(dot)));
  }
  if (!bounded) return sums;
  sums.payload_dot =
      static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(sums.payload_dot)));
  sum_sketch(code, queries.constants[q], row, &sums);
  return sums;
}

template <bool kTrained>
__global__ void __launch_bounds__(kThreads)
    score_candidates_kernel(CodeView code, QueryView queries, RowMask mask, bool bounded,
                            RankedLists lists, CandidateLimit limit, const Ranked* thresholds,
                            RankedLists best) {
  const int q = static_cast<int>(blockIdx.y);
  if (limit.reaching != nullptr &&
      (limit.reaching[q] > limit.most || lists.counts[q] > lists.capacity))
    return;
  using Tables = std::conditional_t<kTrained, TrainedTables, PlainTables>;
  __shared__ Tables near;
  for (int i = threadIdx.x; i < code.table_count * 256; i += kThreads)
    near.tables[i] = code.tables[i];
  if constexpr (kTrained) {
    for (int i = threadIdx.x; i < code.coded_segments; i += kThreads) near.plan[i] = code.plan[i];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const uint32_t count =
      lists.counts != nullptr ? min(lists.counts[q], lists.capacity) : lists.capacity;
  const Ranked threshold = thresholds[q];
  const float reach = similarity_of(threshold);
  Ranked* entries = lists.entries + static_cast<size_t>(q) * lists.capacity;
  for (uint32_t i = blockIdx.x * kWarps + threadIdx.x / 32; i < count; i += gridDim.x * kWarps) {
    int64_t row = i;
    bool scored;
    if (lists.entries != nullptr) {
      const Ranked entry = entries[i];
      row = row_of(entry);
      scored = entry != 0 && similarity_of(entry) >= reach;
    } else {
      scored = mask.keeps(row);
    }
    Ranked ranked = 0;
    if (scored) {
      const RowBytes bytes = row_bytes(code, row);
      const RowSums sums = sum_row(code, queries, q, bounded, bytes, near);
      ranked =
          ranked_row(key_of(code, queries.constants[q], load_terms(code, row), sums, bounded), row);
    }
    if (lane != 0) continue;
    if (best.entries == nullptr) {
      entries[i] = ranked;
    } else if (ranked != 0 && ranked >= threshold) {
      append(best, q, ranked);
    }
  }
}

}  // namespace

void score_candidates(const CodeView& code, const QueryView& queries, const RowMask& mask,
                      bool bounded, const RankedLists& lists, const CandidateLimit& limit,
                      const Ranked* thresholds, const RankedLists& best, int multiprocessors,
                      cudaStream_t stream) {
  // Enough warps to fill the device, whether for one query or for many.
  const uint32_t most = (lists.capacity + kWarps - 1) / kWarps;
  const auto wanted = static_cast<uint32_t>((multiprocessors * 16 + queries.nq - 1) / queries.nq);
  const dim3 grid(most < wanted ? most : wanted, static_cast<uint32_t>(queries.nq));
  const auto kernel =
      code.is_trained() ? score_candidates_kernel<true> : score_candidates_kernel<false>;
  kernel<<<grid, kThreads, 0, stream>>>(code, queries, mask, bounded, lists, limit, thresholds,
                                        best);
  POLAR_CUDA_CHECK_LAUNCH(score_candidates_kernel);
}

}  // namespace polarquant::cuda
