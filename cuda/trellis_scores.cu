// SPDX-License-Identifier: MIT
// Scores of rows of one trellis in whole segments. A row's lanes have a segment each; the queries
// are in shared memory, since a lane's 64 numbers of them would take too many registers.
#include <algorithm>

#include "cuda/trellis_rows.cuh"

namespace polarquant::cuda {
namespace {

/// Queries that a decoded row is multiplied by at once.
constexpr int kQueriesAtOnce = 4;

/// A query's numbers by segments: x and y of two pairs, then of the next two.
template <int kQueries>
__device__ void load_queries(const RowScores& job, int units, int64_t head, int64_t first_query,
                             int queries, float* shared) {
  const int values = units * kUnitValues;
  for (int q = 0; q < kQueries; ++q) {
    const float* from =
        job.queries + (head * job.nq + first_query + min(q, queries - 1)) * values;
    for (int i = threadIdx.x; i < values; i += kRowThreads) {
      const int pair = i / kUnitValues * kUnitPairs + i % kUnitPairs;
      const int y = i % kUnitValues / kUnitPairs;
      shared[(pair * kQueries + q) * 2 + y] = from[i];
    }
  }
}

template <int kStep, bool kSigns, int kQueries>
__global__ void __launch_bounds__(kRowThreads)
    score_segments_kernel(const __grid_constant__ RowDescription rows,
                          const __grid_constant__ RowScores job, SegmentLanes lanes) {
  __shared__ SharedCells cells;
  extern __shared__ __align__(16) uint8_t shared[];
  auto* shared_queries = reinterpret_cast<float*>(shared);
  const int values = rows.units * kUnitValues;
  const int64_t head = blockIdx.z;
  const int64_t first_query = static_cast<int64_t>(blockIdx.y) * kQueries;
  const int queries = static_cast<int>(min(job.nq - first_query, static_cast<int64_t>(kQueries)));
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kTrellisWarps * lanes.rows;
  const int64_t first_row =
      (static_cast<int64_t>(blockIdx.x) * kTrellisWarps + warp) * lanes.rows;
  const int passes =
      first_row < job.n ? static_cast<int>(div_up(job.n - first_row, step)) : 0;
  StagedRows staged(lanes, codes, end, rows.row_bytes, first_row, step,
                    shared + sizeof(float) * kQueries * values + warp * 2 * lanes.buffer_bytes);
  if (passes > 0) staged.begin();
  cells.fill(rows.table);
  load_queries<kQueries>(job, rows.units, head, first_query, queries, shared_queries);
  __syncthreads();

  const bool works = lane / lanes.rows < lanes.segments;
  const int segment = works ? lane / lanes.rows : lanes.segments - 1;
  SegmentDecoder<kStep, kSigns> decoder(rows, segment, cells);
  const auto* query = reinterpret_cast<const float4*>(shared_queries) +
                      segment * kSegmentPairs * kQueries / 2;
  int64_t row = first_row + lane % lanes.rows;
  float* to = job.scores + (head * job.nq + first_query) * job.n;
  for (int pass = 0; pass < passes; ++pass) {
    const bool more = pass + 1 < passes;
    if (more) staged.begin();
    const uint32_t* code = staged.take(more);
    decoder.load(code);
    float dots[kQueries] = {};
    float y_dots[kQueries] = {};
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; pair += 2) {
      const float2 a = decoder.point(pair);
      const float2 b = decoder.point(pair + 1);
      if constexpr (kQueries == 1) {
        const float4 by = query[pair / 2];
        dots[0] = __fmaf_rn(by.x, a.x, dots[0]);
        y_dots[0] = __fmaf_rn(by.y, a.y, y_dots[0]);
        dots[0] = __fmaf_rn(by.z, b.x, dots[0]);
        y_dots[0] = __fmaf_rn(by.w, b.y, y_dots[0]);
      } else {
#pragma unroll
        for (int q = 0; q < kQueries; q += 2) {
          const float4 first = query[(pair * kQueries + q) / 2];
          const float4 second = query[((pair + 1) * kQueries + q) / 2];
          dots[q] = __fmaf_rn(first.x, a.x, dots[q]);
          y_dots[q] = __fmaf_rn(first.y, a.y, y_dots[q]);
          dots[q + 1] = __fmaf_rn(first.z, a.x, dots[q + 1]);
          y_dots[q + 1] = __fmaf_rn(first.w, a.y, y_dots[q + 1]);
          dots[q] = __fmaf_rn(second.x, b.x, dots[q]);
          y_dots[q] = __fmaf_rn(second.y, b.y, y_dots[q]);
          dots[q + 1] = __fmaf_rn(second.z, b.x, dots[q + 1]);
          y_dots[q + 1] = __fmaf_rn(second.w, b.y, y_dots[q + 1]);
        }
      }
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      dots[q] = works ? dots[q] + y_dots[q] : 0;
      for (int apart = 16; apart >= lanes.rows; apart /= 2)
        dots[q] += __shfl_xor_sync(~0U, dots[q], apart);
    }
    if (lane < lanes.rows && row < job.n) {
      const CodeFactors factors = load_word_factors(rows, code);
      const float constant = rows.is_l2 != 0 ? factors.bias * factors.bias : factors.bias;
      const float scale = rows.is_l2 != 0 ? -2 * factors.scale : factors.scale;
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        if (q >= queries) continue;
        const QueryTerms terms = job.terms[head * job.nq + first_query + q];
        to[q * job.n + row] = terms.offset + terms.bias_weight * constant + scale * dots[q];
      }
    }
    row += step;
    // The buffer is overwritten by the next rows but one.
    __syncwarp();
  }
}

struct Launch {
  const RowDescription& rows;
  const RowScores& job;
  int multiprocessors;
  cudaStream_t stream;

  template <int kStep, bool kSigns>
  void run() const {
    job.nq == 1 ? run_queries<kStep, kSigns, 1>() : run_queries<kStep, kSigns, kQueriesAtOnce>();
  }
  template <int kStep, bool kSigns, int kQueries>
  void run_queries() const {
    constexpr auto kKernel = score_segments_kernel<kStep, kSigns, kQueries>;
    allow_shared_memory<kKernel>(sizeof(SharedCells));
    const SegmentLanes lanes(rows);
    const size_t shared =
        sizeof(float) * kQueries * static_cast<size_t>(rows.units) * kUnitValues +
        size_t{2} * kTrellisWarps * lanes.buffer_bytes;
    const int64_t tiles = div_up(job.nq, kQueries);
    const int64_t blocks = resident_blocks<kKernel>(shared, multiprocessors);
    const int64_t wanted = std::max<int64_t>(1, blocks / (tiles * job.heads));
    const int64_t passes = div_up(job.n, kTrellisWarps * lanes.rows);
    const dim3 grid(static_cast<unsigned>(std::min(passes, wanted)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, lanes);
    POLAR_CUDA_CHECK_LAUNCH(score_segments_kernel);
  }
};

}  // namespace

void score_trellis_rows(const RowDescription& rows, const RowScores& job, int multiprocessors,
                        cudaStream_t stream) {
  with_trellis(rows.trellis, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
