// SPDX-License-Identifier: MIT
// Single rows, a warp each: for the candidates of a scan. Every number of
// src/scan/model/row_values.h is computed here.
#include "cuda/candidate_scores.h"
#include "cuda/cuda_check.h"
#include "cuda/row_key.cuh"

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

/// All lanes of the warp get the sums.
__device__ RowSums sum_row(const CodeView& code, const QueryView& queries, int q, bool bounded,
                           const RowBytes& row, const uint32_t* tables) {
  const int lane = threadIdx.x % 32;
  const int8_t* values = queries.values + static_cast<size_t>(q) * code.padded_dim();
  RowSums sums;
  for (int s = 0; s < code.stages; ++s) {
    const StageView& stage = code.stage[s];
    const uint32_t* table = tables + s * 256;
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
  if (lane < code.sketch_words) {
    const QueryConstants& query = queries.constants[q];
    const auto word = *reinterpret_cast<const unsigned long long*>(row.sketch + 64 * lane);
    sums.distance = word_distance(query, lane, word);
  }
  sums.distance =
      static_cast<int32_t>(__reduce_add_sync(~0U, static_cast<unsigned>(sums.distance)));
  return sums;
}

__global__ void __launch_bounds__(kThreads)
    score_candidates_kernel(CodeView code, QueryView queries, RowMask mask, bool bounded,
                            RankedLists lists, CandidateLimit limit, const Ranked* thresholds,
                            RankedLists best) {
  const int q = static_cast<int>(blockIdx.y);
  if (limit.reaching != nullptr &&
      (limit.reaching[q] > limit.most || lists.counts[q] > lists.capacity))
    return;
  __shared__ uint32_t tables[kMaxStages * 256];
  for (int i = threadIdx.x; i < code.stages * 256; i += kThreads) tables[i] = code.tables[i];
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
      const RowSums sums = sum_row(code, queries, q, bounded, row_bytes(code, row), tables);
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
  score_candidates_kernel<<<grid, kThreads, 0, stream>>>(code, queries, mask, bounded, lists, limit,
                                                         thresholds, best);
  POLAR_CUDA_CHECK_LAUNCH(score_candidates_kernel);
}

}  // namespace polarquant::cuda
