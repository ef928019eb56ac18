// SPDX-License-Identifier: MIT
// A row by as many lanes as it has units, up to a warp. A lane keeps its unit's part of the queries
// in registers; where rows have more units than a warp lanes, it goes from unit to unit.
#include "cuda/row_scores.h"

#include <algorithm>

#include "cuda/row_launch.cuh"

namespace polarquant::cuda {
namespace {

/// Queries that a decoded row is multiplied by at once.
constexpr int kQueriesAtOnce = 4;

struct Lanes {
  int of_row;  // a power of two
  int copies_log2;
};

template <typename Decoder, int kQueries>
__global__ void __launch_bounds__(kRowThreads)
    score_rows_kernel(const __grid_constant__ RowDescription rows,
                      const __grid_constant__ RowScores job, Lanes lanes) {
  extern __shared__ __align__(16) uint8_t shared[];
  const SharedPoints points(rows, reinterpret_cast<float2*>(shared), lanes.copies_log2);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & (lanes.of_row - 1);
  const int in_block = static_cast<int>(threadIdx.x) / lanes.of_row;
  const int rows_at_once = kRowThreads / lanes.of_row;
  const int64_t head = blockIdx.z;
  const int64_t first_query = static_cast<int64_t>(blockIdx.y) * kQueries;
  const int held = static_cast<int>(min(job.nq - first_query, static_cast<int64_t>(kQueries)));
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);

  float query[kQueries][kUnitValues];
  const auto load_queries = [&](int unit) {
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i)
        query[q][i] = q < held && unit < rows.units
                          ? job.queries[((head * job.nq + first_query + q) * rows.units + unit) *
                                            kUnitValues +
                                        i]
                          : 0;
    }
  };
  const bool stays = rows.units <= lanes.of_row;
  Decoder decoder(rows, min(lane, rows.units - 1), points);
  load_queries(lane);
  const bool sums_lengths = rows.is_l2 != 0 && rows.factor_bytes == 0;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * rows_at_once; base < job.n;
       base += static_cast<int64_t>(gridDim.x) * rows_at_once) {
    // Lanes of no row do the last one again: all of a warp take part in sums.
    const int64_t row = min(base + in_block, job.n - 1);
    const RowPlace place = place_of(rows, codes, end, job.n, row);
    float dots[kQueries] = {};
    float length2 = 0;
    for (int unit = lane; unit < rows.units; unit += lanes.of_row) {
      if (!stays) {
        decoder = Decoder(rows, unit, points);
        load_queries(unit);
      }
      float y[kUnitValues];
      const float factor = decoder.decode(place, y);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        float dot = 0;
#pragma unroll
        for (int i = 0; i < kUnitValues; ++i) dot = __fmaf_rn(query[q][i], y[i], dot);
        dots[q] = __fmaf_rn(factor, dot, dots[q]);
      }
      if (sums_lengths) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kUnitValues; ++i) sum = __fmaf_rn(y[i], y[i], sum);
        length2 = __fmaf_rn(factor * factor, sum, length2);
      }
    }
    for (int apart = lanes.of_row / 2; apart >= 1; apart /= 2) {
#pragma unroll
      for (int q = 0; q < kQueries; ++q) dots[q] += __shfl_xor_sync(~0U, dots[q], apart);
      if (sums_lengths) length2 += __shfl_xor_sync(~0U, length2, apart);
    }
    if (lane != 0 || base + in_block >= job.n) continue;
    float constant = rows.norm_unit * rows.norm_unit * length2;
    float scale = rows.norm_unit;
    if (rows.factor_bytes != 0) {
      const CodeFactors factors = load_code_factors(rows, place.code);
      constant = rows.is_l2 != 0 ? factors.bias * factors.bias : factors.bias;
      scale = factors.scale;
    }
    if (rows.is_l2 != 0) scale *= -2;
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      if (q >= held) continue;
      const int64_t at = head * job.nq + first_query + q;
      const QueryTerms terms = job.terms[at];
      job.scores[at * job.n + row] = terms.offset + terms.bias_weight * constant + scale * dots[q];
    }
  }
}

struct Launch {
  const RowDescription& rows;
  const RowScores& job;
  int multiprocessors;
  cudaStream_t stream;

  template <typename Decoder>
  void run() const {
    job.nq == 1 ? run_queries<Decoder, 1>() : run_queries<Decoder, kQueriesAtOnce>();
  }
  template <typename Decoder, int kQueries>
  void run_queries() const {
    constexpr auto kKernel = score_rows_kernel<Decoder, kQueries>;
    allow_shared_memory<kKernel>();
    Lanes lanes = {1, SharedPoints::copies_log2(rows.entries, kTableCopiesBytes)};
    while (lanes.of_row < 32 && lanes.of_row < rows.units) lanes.of_row *= 2;
    const size_t shared = table_bytes(rows.entries, lanes.copies_log2);
    const int64_t passes = div_up(job.n, kRowThreads / lanes.of_row);
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
  with_decoder(rows, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
