// SPDX-License-Identifier: MIT
// Each row is scored by as many lanes as it has units, up to a warp. A lane keeps its unit's part
// of the queries in registers; where rows have more units than a warp has lanes, it goes from unit
// to unit, one query at a time.
#include "cuda/row_scores.h"

#include <algorithm>

#include "cuda/row_launch.cuh"
#include "cuda/segment_rows.h"

namespace polarquant::cuda {
namespace {

/// Queries that a decoded row is multiplied by at once.
constexpr int kQueriesAtOnce = 4;

struct Lanes {
  int per_row;  // a power of two
  int copies_log2;
};

/// kStays: a lane has one unit.
template <typename Decoder, int kQueries, bool kStays>
__global__ void __launch_bounds__(kRowThreads)
    score_rows_kernel(const __grid_constant__ RowDescription rows,
                      const __grid_constant__ RowScores job, Lanes lanes) {
  extern __shared__ __align__(128) uint8_t shared[];
  const SharedPoints points(rows, reinterpret_cast<float2*>(shared), lanes.copies_log2);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & (lanes.per_row - 1);
  const int in_block = static_cast<int>(threadIdx.x) / lanes.per_row;
  const int rows_at_once = kRowThreads / lanes.per_row;
  const int64_t head = blockIdx.z;
  const int64_t first_query = static_cast<int64_t>(blockIdx.y) * kQueries;
  const int queries = static_cast<int>(min(job.nq - first_query, static_cast<int64_t>(kQueries)));
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);

  float query[kQueries][kUnitValues];
  QueryTerms terms[kQueries];
  const auto load_queries = [&](int unit) {
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      const int64_t at = head * job.nq + first_query + min(q, queries - 1);
      terms[q] = job.terms[at];
      const float* from = job.queries + (at * rows.units + unit) * kUnitValues;
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) query[q][i] = unit < rows.units ? from[i] : 0;
    }
  };
  Decoder decoder(rows, min(lane, rows.units - 1), points);
  load_queries(lane);
  const bool sums_lengths = rows.is_l2 != 0 && (!Decoder::kFactors || rows.factor_bytes == 0);
  const int64_t step = static_cast<int64_t>(gridDim.x) * rows_at_once;
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * rows_at_once;
  int64_t row = first_row + in_block;
  float* to = job.scores + (head * job.nq + first_query) * job.n + row;
  RowWalk<Decoder> walk(rows, codes, end, job.n, min(row, job.n - 1), step);
  for (auto passes = static_cast<int>(div_up(job.n - first_row, step)); passes > 0; --passes) {
    const RowPlace place = walk.place();
    float dots[kQueries] = {};
    float length2 = 0;
    const auto add_unit = [&](int unit) {
      float y[kUnitValues];
      const float factor = decoder.decode(place, y);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        float dot = 0;
#pragma unroll
        for (int i = 0; i < kUnitValues; ++i) dot = __fmaf_rn(query[q][i], y[i], dot);
        dots[q] = __fmaf_rn(factor, dot, dots[q]);
      }
      if (!sums_lengths) return;
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) {
        // Numbers without a coordinate may have any value.
        if (unit * kUnitValues + i < rows.dim) sum = __fmaf_rn(y[i], y[i], sum);
      }
      length2 = __fmaf_rn(factor * factor, sum, length2);
    };
    if constexpr (kStays) {
      if (lane < rows.units) add_unit(lane);
    } else {
      for (int unit = lane; unit < rows.units; unit += lanes.per_row) {
        decoder = Decoder(rows, unit, points);
        load_queries(unit);
        add_unit(unit);
      }
    }
    for (int apart = lanes.per_row / 2; apart >= 1; apart /= 2) {
#pragma unroll
      for (int q = 0; q < kQueries; ++q) dots[q] += __shfl_xor_sync(~0U, dots[q], apart);
      if (sums_lengths) length2 += __shfl_xor_sync(~0U, length2, apart);
    }
    if (lane == 0 && row < job.n) {
      float constant = rows.norm_unit * rows.norm_unit * length2;
      float scale = rows.norm_unit;
      if (Decoder::kFactors && rows.factor_bytes != 0) {
        const CodeFactors factors = load_code_factors(rows, place.code);
        constant = rows.is_l2 != 0 ? factors.bias * factors.bias : factors.bias;
        scale = factors.scale;
      }
      if (rows.is_l2 != 0) scale *= -2;
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        if (q < queries)
          to[q * job.n] = terms[q].offset + terms[q].bias_weight * constant + scale * dots[q];
      }
    }
    row += step;
    to += step;
    // Lanes after the last row repeat one: all of a warp take part in sums.
    if (row < job.n) walk.advance();
  }
}

struct Launch {
  const RowDescription& rows;
  const RowScores& job;
  int multiprocessors;
  cudaStream_t stream;

  template <typename Decoder>
  void run() const {
    constexpr int kWarpLanes = 32;
    if (rows.units > kWarpLanes) return run_queries<Decoder, 1, false>();
    job.nq == 1 ? run_queries<Decoder, 1, true>() : run_queries<Decoder, kQueriesAtOnce, true>();
  }
  template <typename Decoder, int kQueries, bool kStays>
  void run_queries() const {
    constexpr auto kKernel = score_rows_kernel<Decoder, kQueries, kStays>;
    allow_shared_memory<kKernel>();
    Lanes lanes = {1, copies_log2_of<Decoder>(rows)};
    while (lanes.per_row < 32 && lanes.per_row < rows.units) lanes.per_row *= 2;
    const size_t shared = table_bytes(rows.entries, lanes.copies_log2);
    const int64_t passes = div_up(job.n, kRowThreads / lanes.per_row);
    const int64_t tiles = div_up(job.nq, kQueries);
    const int64_t wanted =
        div_up(int64_t{multiprocessors} * kBlocksPerMultiprocessor, tiles * job.heads);
    const dim3 grid(static_cast<unsigned>(std::min(passes, wanted)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, lanes);
    POLAR_CUDA_CHECK_LAUNCH(score_rows_kernel);
  }
};

}  // namespace

void score_rows(const RowDescription& rows, const RowScores& job, int multiprocessors,
                cudaStream_t stream) {
  if (job.heads == 0 || job.nq == 0 || job.n == 0) return;
  if (have_segments_at(rows, job.codes, job.head_bytes))
    return score_segments(rows, job, multiprocessors, stream);
  with_decoder(rows, job.codes, job.head_bytes, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
