// SPDX-License-Identifier: MIT
// The k best rows of each query, decoded to floats and scored as the plain code does it: products
// in coordinate order into 16 sums, coordinate j into sum j mod 16, then their tree
// (src/codec/dot.h), one sum for each lane of half a warp. Rows of an inverted file are scored by
// the query about their list's centre.
#include "cuda/cuda_check.h"
#include "cuda/final_scores.h"
#include "cuda/half_warp.cuh"
#include "cuda/list_of.cuh"
#include "cuda/residual_query.cuh"
#include "cuda/row_key.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kProducts = 1024;  // at a time; a multiple of kHalfWarp

__device__ int window_at(const uint8_t* ring, int step, int pair, int ring_bits) {
  const int first = pair * step + step - 8;
  if (first < 0) {
    const uint32_t before = ring_end(ring, ring_bits, -first);
    uint32_t own = 0;
    for (int i = 0; i < 8 + first; ++i) {
      const int at = i % ring_bits;
      own |= static_cast<uint32_t>(ring[at / 8] >> (at % 8) & 1) << i;
    }
    return static_cast<int>((own << -first | before) & 255);
  }
  // Both parts of the window lie in the ring.
  const uint32_t low = ring[first / 8];
  const uint32_t high = first % 8 != 0 ? ring[first / 8 + 1] : 0;
  return static_cast<int>((low | high << 8) >> (first % 8) & 255);
}

__device__ int magnitude_at(const uint8_t* fields, int bits, int j) {
  const int first = j * bits;
  const uint32_t low = fields[first / 8];
  const uint32_t high = fields[(first + bits - 1) / 8];
  return static_cast<int>((low | high << 8) >> (first % 8) & ((1U << bits) - 1));
}

/// One coordinate of a stage's û.
__device__ float decode_coordinate(const CodeView& code, int s, const RowBytes& row, int j) {
  const StageView& stage = code.stage[s];
  const float2* cells = code.cells + s * 256;
  const uint8_t* codes = row.payload + stage.codes_offset;
  const int segment = j / kSegmentDims;
  const int half = (segment_count(code.dim, segment) + 1) / 2;
  const int in_segment = j % kSegmentDims;
  const bool is_y = in_segment >= half;
  const int pair = is_y ? in_segment - half : in_segment;
  float value;
  if (stage.kind == CodeKind::magnitudes) {
    value = cells[magnitude_at(codes, stage.step_bits, j)].x;
  } else {
    const float2 cell =
        cells[window_at(codes, stage.step_bits, segment * 32 + pair, code.pairs * stage.step_bits)];
    value = is_y ? cell.y : cell.x;
  }
  const uint32_t signs = group8_signs(code, stage, row, segment, pair / kGroupPairs);
  const bool negative = (signs >> (pair % kGroupPairs + (is_y ? 8 : 0)) & 1) != 0;
  return negative ? -value : value;
}

/// The same for a trained code.
__device__ float decode_trained_coordinate(const CodeView& code, const RowBytes& row, int j) {
  const int segment = j / kSegmentDims;
  const SegmentView& view = code.plan[segment];
  const int in_segment = j % kSegmentDims;
  if (in_segment >= view.count) return 0;
  const float2* cells = code.cells + view.table * 256;
  const uint8_t* codes = row.payload + view.stage.codes_offset;
  const int step = view.stage.step_bits;
  const int half = (view.count + 1) / 2;
  const bool is_y = in_segment >= half;
  const int pair = is_y ? in_segment - half : in_segment;
  float value;
  if (view.stage.kind == CodeKind::magnitudes) {
    value = cells[magnitude_at(codes, step, in_segment)].x;
  } else {
    const float2 cell =
        cells[window_at(codes, step, view.group8 * kGroupPairs + pair, view.pairs * step)];
    value = is_y ? cell.y : cell.x;
  }
  const uint32_t signs = group8_signs(code, view.stage, row, segment, pair / kGroupPairs);
  const bool negative = (signs >> (pair % kGroupPairs + (is_y ? 8 : 0)) & 1) != 0;
  return (negative ? -value : value) * view.scale;
}

/// One coordinate of û.
__device__ float decode_row(const CodeView& code, const RowBytes& row, int j) {
  if (code.is_trained()) return decode_trained_coordinate(code, row, j);
  float value = decode_coordinate(code, 0, row, j);
  if (code.stages == 2) value += decode_coordinate(code, 1, row, j) / code.residual_gain;
  return value;
}

/// The query for a row.
__device__ ResidualQuery query_of(const CodeView& code, const QueryView& queries,
                                  const ListsView& lists, const QueryTerms* terms, int q,
                                  int64_t row) {
  const float* rotated = queries.rotated + static_cast<size_t>(q) * code.dim;
  if (terms != nullptr) return move_query(code, lists, list_of(lists, row), rotated, terms[q]);
  const QueryConstants& query = queries.constants[q];
  return {rotated, nullptr, 0, query.offset, query.bias_weight};
}

/// A thread block a row: products by all threads, since each takes several loads one after the
/// other, sums by half a warp.
__global__ void __launch_bounds__(kThreads)
    exact_scores_kernel(CodeView code, QueryView queries, ListsView lists, const QueryTerms* terms,
                        const Ranked* best, int64_t k, Ranked* exact, float* exact_scores) {
  __shared__ float products[kProducts];
  const int64_t at = blockIdx.x;
  const Ranked entry = best[at];
  const int thread = threadIdx.x;
  const float worst = code.is_l2 != 0 ? INFINITY : -INFINITY;
  if (entry == 0) {
    if (thread == 0) {
      exact[at] = 0;
      exact_scores[at] = worst;
    }
    return;
  }
  const auto q = static_cast<int>(at / k);
  const int64_t number = row_of(entry);
  const RowBytes row = row_bytes(code, number);
  const ResidualQuery query = query_of(code, queries, lists, terms, q, number);
  float sum = 0;
  for (int first = 0; first < code.dim; first += kProducts) {
    const int count = min(kProducts, code.dim - first);
    for (int i = thread; i < count; i += kThreads) {
      const int j = first + i;
      products[i] = query.at(j) * decode_row(code, row, j);
    }
    __syncthreads();
    if (thread < kHalfWarp) {
#pragma unroll 8
      for (int i = thread; i < count; i += kHalfWarp) sum += products[i];
    }
    __syncthreads();
  }
  if (thread >= kHalfWarp) return;
  sum = half_warp_sum(sum);
  if (thread != 0) return;
  const RowFactors factors = load_row_factors(code, number);
  const float constant = code.is_l2 != 0 ? factors.bias * factors.bias : factors.bias;
  const float scale = code.is_l2 != 0 ? -2 * factors.scale : factors.scale;
  const float score = query.offset + query.bias_weight * constant + scale * sum;
  const bool is_number = !isnan(score);
  exact_scores[at] = is_number ? score : worst;
  exact[at] = ranked_row(is_number ? (code.is_l2 != 0 ? -score : score) : -INFINITY, number);
}

__global__ void __launch_bounds__(kThreads)
    order_kernel(const Ranked* best, const Ranked* exact, const float* exact_scores, int64_t k,
                 float* scores, int64_t* rows, float* similarity) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= k) return;
  const size_t first = static_cast<size_t>(blockIdx.y) * k;
  const Ranked mine = exact[first + i];
  int64_t place = i;  // of no row
  if (mine != 0) {
    place = 0;
    for (int64_t j = 0; j < k; ++j) place += exact[first + j] > mine ? 1 : 0;
  }
  scores[first + place] = exact_scores[first + i];
  rows[first + place] = mine != 0 ? row_of(mine) : -1;
  if (similarity != nullptr) similarity[first + place] = similarity_of(best[first + i]);
}

}  // namespace

void final_scores(const CodeView& code, const QueryView& queries, const ListsView& lists,
                  const QueryTerms* terms, const Ranked* best, int64_t k, Ranked* exact,
                  float* exact_scores, float* scores, int64_t* rows, float* similarity,
                  cudaStream_t stream) {
  exact_scores_kernel<<<static_cast<unsigned>(queries.nq * k), kThreads, 0, stream>>>(
      code, queries, lists, terms, best, k, exact, exact_scores);
  POLAR_CUDA_CHECK_LAUNCH(exact_scores_kernel);
  const dim3 grid(static_cast<unsigned>((k + kThreads - 1) / kThreads),
                  static_cast<unsigned>(queries.nq));
  order_kernel<<<grid, kThreads, 0, stream>>>(best, exact, exact_scores, k, scores, rows,
                                              similarity);
  POLAR_CUDA_CHECK_LAUNCH(order_kernel);
}

void exact_scores(const CodeView& code, const QueryView& queries, const QueryTerms* terms,
                  const Ranked* best, int64_t k, Ranked* exact, float* scores,
                  cudaStream_t stream) {
  exact_scores_kernel<<<static_cast<unsigned>(queries.nq * k), kThreads, 0, stream>>>(
      code, queries, ListsView{}, terms, best, k, exact, scores);
  POLAR_CUDA_CHECK_LAUNCH(exact_scores_kernel);
}

}  // namespace polarquant::cuda
