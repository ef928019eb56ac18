// SPDX-License-Identifier: MIT
// Scores of rows by segments. A row's lanes have a segment each; the queries are in shared memory,
// since a lane's 64 numbers of them would take too many registers.
#include <algorithm>

#include "cuda/segment_rows.cuh"

namespace polarquant::cuda {
namespace {

/// Queries that a decoded row is multiplied by at once.
constexpr int kQueriesAtOnce = 4;

/// By all threads of a block: by pairs x and y of each query.
template <typename Decoder, int kQueries>
__device__ void load_queries(const RowDescription& rows, const RowScores& job, int64_t first_query,
                             int queries, float* shared) {
  const int values = rows.units * kUnitValues;
  for (int i = threadIdx.x; i < values; i += kRowThreads) {
    const int place = Decoder::place_of(i);
    const float scale = Decoder::column_scale(rows, i);
    for (int q = 0; q < kQueries; ++q)
      shared[(place / 2 * kQueries + q) * 2 + place % 2] =
          scale * job.queries[(first_query + min(q, queries - 1)) * values + i];
  }
}

template <typename Decoder, int kQueries>
__global__ void __launch_bounds__(kRowThreads)
    score_segments_kernel(const __grid_constant__ RowDescription rows,
                          const __grid_constant__ RowScores job, SegmentLanes lanes) {
  __shared__ typename Decoder::Table table;
  extern __shared__ __align__(128) uint8_t shared[];
  const int64_t head = blockIdx.z;
  const int64_t first_of_head = static_cast<int64_t>(blockIdx.y) * kQueries;
  const int64_t first_query = head * job.nq + first_of_head;
  const int queries = static_cast<int>(min(job.nq - first_of_head, static_cast<int64_t>(kQueries)));
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kRowWarps * lanes.rows;
  const int64_t first_row = (static_cast<int64_t>(blockIdx.x) * kRowWarps + warp) * lanes.rows;
  int passes = first_row < job.n ? static_cast<int>(div_up(job.n - first_row, step)) : 0;
  StagedRows<Decoder::kSwaps> staged(lanes, codes, end, rows.row_bytes, first_row, step,
                                     shared + warp * 2 * lanes.buffer_bytes);
  if (passes > 0) staged.begin();
  auto* shared_queries = reinterpret_cast<float*>(shared + kRowWarps * 2 * lanes.buffer_bytes);
  table.fill(rows.table);
  load_queries<Decoder, kQueries>(rows, job, first_query, queries, shared_queries);
  __syncthreads();

  const bool works = lane / lanes.rows < lanes.segments;
  const int segment = works ? lane / lanes.rows : lanes.segments - 1;
  Decoder decoder(rows, table, staged.shift(), lane % lanes.rows, segment);
  const auto* query =
      reinterpret_cast<const float4*>(shared_queries) + segment * kSegmentPairs * kQueries / 2;
  QueryTerms terms[kQueries];
#pragma unroll
  for (int q = 0; q < kQueries; ++q) terms[q] = job.terms[first_query + min(q, queries - 1)];
  int64_t row = first_row + lane % lanes.rows;
  float* to = job.scores + first_query * job.n;
  for (; passes > 0; --passes) {
    if (passes > 1) staged.begin();
    const uint8_t* buffer = staged.take(passes > 1);
    decoder.load(buffer);
    float x_dots[kQueries] = {};
    float y_dots[kQueries] = {};
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; pair += 2) {
      const float2 a = decoder.point(pair);
      const float2 b = decoder.point(pair + 1);
      const auto add = [&](int q, float x, float y, const float2& point) {
        x_dots[q] = __fmaf_rn(x, point.x, x_dots[q]);
        y_dots[q] = __fmaf_rn(y, point.y, y_dots[q]);
      };
      if constexpr (kQueries == 1) {
        const float4 by = query[pair / 2];
        add(0, by.x, by.y, a);
        add(0, by.z, by.w, b);
      } else {
#pragma unroll
        for (int q = 0; q < kQueries; q += 2) {
          const float4 by_a = query[(pair * kQueries + q) / 2];
          const float4 by_b = query[((pair + 1) * kQueries + q) / 2];
          add(q, by_a.x, by_a.y, a);
          add(q + 1, by_a.z, by_a.w, a);
          add(q, by_b.x, by_b.y, b);
          add(q + 1, by_b.z, by_b.w, b);
        }
      }
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
      x_dots[q] = works ? x_dots[q] + y_dots[q] : 0;
      for (int apart = 16; apart >= lanes.rows; apart /= 2)
        x_dots[q] += __shfl_xor_sync(~0U, x_dots[q], apart);
    }
    if (lane < lanes.rows && row < job.n) {
      float constant = 0;
      float scale = rows.norm_unit;
      if constexpr (Decoder::kFactors) {
        const CodeFactors factors = decoder.factors(rows, buffer);
        constant = rows.is_l2 != 0 ? factors.bias * factors.bias : factors.bias;
        scale = rows.is_l2 != 0 ? -2 * factors.scale : factors.scale;
      }
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        if (q < queries)
          to[q * job.n + row] =
              terms[q].offset + terms[q].bias_weight * constant + scale * x_dots[q];
      }
    }
    row += step;
    staged.release();
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
    constexpr auto kKernel = score_segments_kernel<Decoder, kQueries>;
    allow_shared_memory<kKernel>(sizeof(typename Decoder::Table));
    const SegmentLanes lanes(rows);
    const size_t shared = sizeof(float) * kQueries * static_cast<size_t>(rows.units) * kUnitValues +
                          size_t{2} * kRowWarps * lanes.buffer_bytes;
    int resident = 0;
    POLAR_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kKernel, kRowThreads, shared));
    const int64_t tiles = div_up(job.nq, kQueries);
    const int64_t wanted =
        std::max<int64_t>(1, int64_t{resident} * multiprocessors / (tiles * job.heads));
    const int64_t passes = div_up(job.n, int64_t{kRowWarps} * lanes.rows);
    const dim3 grid(static_cast<unsigned>(std::min(passes, wanted)), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, lanes);
    POLAR_CUDA_CHECK_LAUNCH(score_segments_kernel);
  }
};

}  // namespace

bool have_segments(const RowDescription& rows) {
  constexpr int kMostSegments = 32;
  const bool are_whole =
      rows.dim % kSegmentValues == 0 && rows.dim / kSegmentValues <= kMostSegments;
  const bool are_trellis = rows.kind == RowKind::cells && rows.trellis.step != 0;
  // By L2 scores of pairs need rows' lengths.
  const bool are_pairs = rows.kind == RowKind::pairs && rows.angle_bits == 4 &&
                         rows.radius_bits == 4 && rows.is_l2 == 0;
  return are_whole && (are_trellis || are_pairs);
}

bool have_segments_at(const RowDescription& rows, const uint8_t* codes, uint64_t head_bytes) {
  return have_segments(rows) && reinterpret_cast<uintptr_t>(codes) % kPieceBytes == 0 &&
         (head_bytes | rows.row_bytes) % (rows.kind == RowKind::pairs ? kPieceBytes : 4) == 0;
}

void score_segments(const RowDescription& rows, const RowScores& job, int multiprocessors,
                    cudaStream_t stream) {
  with_segments(rows, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
