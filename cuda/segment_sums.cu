// SPDX-License-Identifier: MIT
// Weighted sums of rows by segments. A lane keeps the sums of one segment in registers; lanes and
// warps of a block are added at its end, blocks by add_sum_parts.
#include <algorithm>

#include "cuda/segment_rows.cuh"

namespace polarquant::cuda {
namespace {

/// The most rows that a lane adds: float sums of more would lose precision.
constexpr int64_t kRowsOfLane = 1024;
/// Rows that a lane adds at least, where there are so many: the end of a block costs as much as a
/// few.
constexpr int64_t kLeastRowsOfLane = 8;
/// Vectors of weights that a decoded row is added with at once.
constexpr int kMostVectors = 2;
/// Blocks of a multiprocessor that have registers for a lane's 64 sums of each vector.
template <int kVectors>
constexpr int kSumBlocks = kMostVectors / kVectors;

/// Blocks that part the rows of a head.
template <int kVectors>
int64_t count_splits(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                     int multiprocessors) {
  const SegmentLanes lanes(rows);
  const int64_t rows_at_once = int64_t{kRowWarps} * lanes.rows;
  const int64_t least = div_up(n, rows_at_once * kRowsOfLane);
  const int64_t most = std::max<int64_t>(1, n / (rows_at_once * kLeastRowsOfLane));
  const int64_t wanted = std::max<int64_t>(
      1, int64_t{multiprocessors} * kSumBlocks<kVectors> / (heads * div_up(nw, kVectors)));
  return std::max(least, std::min(wanted, most));
}

template <typename Decoder, int kVectors>
__global__ void __launch_bounds__(kRowThreads, kSumBlocks<kVectors>)
    sum_segments_kernel(const __grid_constant__ RowDescription rows,
                        const __grid_constant__ SumJob job, SegmentLanes lanes) {
  __shared__ typename Decoder::Table table;
  extern __shared__ __align__(128) uint8_t shared[];
  const int64_t head = blockIdx.z;
  const int64_t first_of_head = static_cast<int64_t>(blockIdx.y) * kVectors;
  const int vectors = static_cast<int>(min(job.nw - first_of_head, static_cast<int64_t>(kVectors)));
  const int64_t first_vector = head * job.nw + first_of_head;
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
  table.fill(rows.table);
  __syncthreads();

  const int segment = min(lane / lanes.rows, lanes.segments - 1);
  Decoder decoder(rows, table, staged.shift(), lane % lanes.rows, segment);
  const float* weights = job.weights + first_vector * job.n;
  int64_t row = first_row + lane % lanes.rows;
  float sums[kVectors][kSegmentValues] = {};
  float weight_sums[kVectors] = {};
  for (; passes > 0; --passes) {
    if (passes > 1) staged.begin();
    float scales[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      scales[v] = row < job.n && v < vectors ? weights[v * job.n + row] : 0;
      weight_sums[v] += scales[v];
    }
    const uint8_t* buffer = staged.take(passes > 1);
    decoder.load(buffer);
    if constexpr (Decoder::kFactors) {
      // What lies after the last row may be no number.
      const float scale = row < job.n ? decoder.factors(rows, buffer).scale : 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) scales[v] *= scale;
    }
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; ++pair) {
      const float2 point = decoder.point(pair);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        sums[v][2 * pair] = __fmaf_rn(scales[v], point.x, sums[v][2 * pair]);
        sums[v][2 * pair + 1] = __fmaf_rn(scales[v], point.y, sums[v][2 * pair + 1]);
      }
    }
    row += step;
    staged.release();
  }

  // In the place of the rows: the sums of each warp, by pairs.
  auto* warp_sums = reinterpret_cast<float*>(shared);
  const int width = rows.units * kUnitValues + 1;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (v >= vectors) break;
    for (int apart = lanes.rows / 2; apart >= 1; apart /= 2) {
      weight_sums[v] += __shfl_xor_sync(~0U, weight_sums[v], apart);
#pragma unroll
      for (int i = 0; i < kSegmentValues; ++i)
        sums[v][i] += __shfl_xor_sync(~0U, sums[v][i], apart);
    }
    __syncthreads();
    if (lane % lanes.rows == 0 && lane / lanes.rows < lanes.segments) {
      float* to = warp_sums + warp * width + segment * kSegmentValues;
#pragma unroll
      for (int i = 0; i < kSegmentValues; ++i) to[i] = sums[v][i];
      if (lane == 0) warp_sums[warp * width + width - 1] = weight_sums[v];
    }
    __syncthreads();
    float* parts = job.parts + ((first_vector + v) * gridDim.x + blockIdx.x) * width;
    for (int i = threadIdx.x; i < width; i += kRowThreads) {
      const bool is_weight = i == width - 1;
      const int place = is_weight ? i : Decoder::place_of(i);
      float sum = 0;
      for (int w = 0; w < kRowWarps; ++w) sum += warp_sums[w * width + place];
      parts[i] = is_weight ? sum : sum * Decoder::column_scale(rows, i);
    }
  }
}

struct Launch {
  const RowDescription& rows;
  const SumJob& job;
  int multiprocessors;
  cudaStream_t stream;

  template <typename Decoder>
  void run() const {
    job.nw == 1 ? run_vectors<Decoder, 1>() : run_vectors<Decoder, kMostVectors>();
  }
  template <typename Decoder, int kVectors>
  void run_vectors() const {
    constexpr auto kKernel = sum_segments_kernel<Decoder, kVectors>;
    allow_shared_memory<kKernel>(sizeof(typename Decoder::Table));
    const SegmentLanes lanes(rows);
    const size_t shared =
        kRowWarps * std::max(size_t{2} * lanes.buffer_bytes,
                             sizeof(float) * static_cast<size_t>(row_sum_width(rows)));
    const int64_t splits = count_splits<kVectors>(rows, job.heads, job.nw, job.n, multiprocessors);
    const dim3 grid(static_cast<unsigned>(splits), static_cast<unsigned>(div_up(job.nw, kVectors)),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, lanes);
    POLAR_CUDA_CHECK_LAUNCH(sum_segments_kernel);
    add_sum_parts(rows, job, splits, stream);
  }
};

}  // namespace

size_t segment_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                         int multiprocessors) {
  const int64_t splits = nw == 1 ? count_splits<1>(rows, heads, nw, n, multiprocessors)
                                 : count_splits<kMostVectors>(rows, heads, nw, n, multiprocessors);
  return static_cast<size_t>(heads * nw * splits * row_sum_width(rows));
}

void sum_segments(const RowDescription& rows, const SumJob& job, int multiprocessors,
                  cudaStream_t stream) {
  with_segments(rows, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
