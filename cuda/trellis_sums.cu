// SPDX-License-Identifier: MIT
// Weighted sums of rows of one trellis in whole segments. A lane keeps the sums of one segment in
// registers; lanes and warps of a block are added at its end, blocks by add_sum_parts.
#include <algorithm>

#include "cuda/trellis_rows.cuh"

namespace polarquant::cuda {
namespace {

/// The most rows that a lane adds: float sums of more would lose precision.
constexpr int64_t kRowsOfLane = 1024;
/// Rows that a lane adds at least, where there are so many: the end of a block costs as much as a
/// few.
constexpr int64_t kLeastRowsOfLane = 8;
/// Two blocks of a multiprocessor have registers for 64 sums a lane.
constexpr int kSumBlocks = 2;

/// Blocks that part the rows of a head.
int64_t count_splits(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                     int multiprocessors) {
  const SegmentLanes lanes(rows);
  const int64_t rows_at_once = int64_t{kTrellisWarps} * lanes.rows;
  const int64_t least = div_up(n, rows_at_once * kRowsOfLane);
  const int64_t most = std::max<int64_t>(1, n / (rows_at_once * kLeastRowsOfLane));
  const int64_t wanted =
      std::max<int64_t>(1, int64_t{multiprocessors} * kSumBlocks / (heads * nw));
  return std::max(least, std::min(wanted, most));
}

template <int kStep, bool kSigns>
__global__ void __launch_bounds__(kRowThreads, kSumBlocks)
    sum_segments_kernel(const __grid_constant__ RowDescription rows,
                        const __grid_constant__ SumJob job, SegmentLanes lanes) {
  __shared__ SharedCells cells;
  extern __shared__ __align__(16) uint8_t shared[];
  const int64_t head = blockIdx.z;
  const int64_t vector = head * job.nw + blockIdx.y;
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kTrellisWarps * lanes.rows;
  const int64_t first_row =
      (static_cast<int64_t>(blockIdx.x) * kTrellisWarps + warp) * lanes.rows;
  const int passes = first_row < job.n ? static_cast<int>(div_up(job.n - first_row, step)) : 0;
  StagedRows staged(lanes, codes, end, rows.row_bytes, first_row, step,
                    shared + warp * 2 * lanes.buffer_bytes);
  if (passes > 0) staged.begin();
  cells.fill(rows.table);
  __syncthreads();

  const int segment = min(lane / lanes.rows, lanes.segments - 1);
  SegmentDecoder<kStep, kSigns> decoder(rows, segment, cells);
  const float* weights = job.weights + vector * job.n;
  int64_t row = first_row + lane % lanes.rows;
  float x_sums[kSegmentPairs] = {};
  float y_sums[kSegmentPairs] = {};
  float weight_sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const bool more = pass + 1 < passes;
    if (more) staged.begin();
    const float weight = row < job.n ? weights[row] : 0;
    const uint32_t* code = staged.take(more);
    decoder.load(code);
    const float scale =
        row < job.n ? weight * load_word_factors(rows, code).scale : 0;
    weight_sum += weight;
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; ++pair) {
      const float2 point = decoder.point(pair);
      x_sums[pair] = __fmaf_rn(scale, point.x, x_sums[pair]);
      y_sums[pair] = __fmaf_rn(scale, point.y, y_sums[pair]);
    }
    row += step;
    // The buffer is overwritten by the next rows but one.
    __syncwarp();
  }

  for (int apart = lanes.rows / 2; apart >= 1; apart /= 2) {
    weight_sum += __shfl_xor_sync(~0U, weight_sum, apart);
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; ++pair) {
      x_sums[pair] += __shfl_xor_sync(~0U, x_sums[pair], apart);
      y_sums[pair] += __shfl_xor_sync(~0U, y_sums[pair], apart);
    }
  }
  // In the place of the rows: a row's sums of each warp, by units of eight x and eight y.
  __syncthreads();
  auto* sums = reinterpret_cast<float*>(shared);
  const int width = rows.units * kUnitValues + 1;
  if (lane % lanes.rows == 0 && lane / lanes.rows < lanes.segments) {
    float* to = sums + warp * width + segment * kSegmentValues;
#pragma unroll
    for (int pair = 0; pair < kSegmentPairs; ++pair) {
      float* place = to + pair / kUnitPairs * kUnitValues + pair % kUnitPairs;
      place[0] = x_sums[pair];
      place[kUnitPairs] = y_sums[pair];
    }
    if (lane == 0) sums[warp * width + width - 1] = weight_sum;
  }
  __syncthreads();
  float* parts = job.parts + (vector * gridDim.x + blockIdx.x) * width;
  for (int i = threadIdx.x; i < width; i += kRowThreads) {
    float sum = 0;
    for (int w = 0; w < kTrellisWarps; ++w) sum += sums[w * width + i];
    parts[i] = sum;
  }
}

struct Launch {
  const RowDescription& rows;
  const SumJob& job;
  int multiprocessors;
  cudaStream_t stream;

  template <int kStep, bool kSigns>
  void run() const {
    constexpr auto kKernel = sum_segments_kernel<kStep, kSigns>;
    allow_shared_memory<kKernel>(sizeof(SharedCells));
    const SegmentLanes lanes(rows);
    const size_t shared =
        kTrellisWarps * std::max(size_t{2} * lanes.buffer_bytes,
                                 sizeof(float) * static_cast<size_t>(row_sum_width(rows)));
    const int64_t splits = count_splits(rows, job.heads, job.nw, job.n, multiprocessors);
    const dim3 grid(static_cast<unsigned>(splits), static_cast<unsigned>(job.nw),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, lanes);
    POLAR_CUDA_CHECK_LAUNCH(sum_segments_kernel);
    add_sum_parts(rows, job, splits, stream);
  }
};

}  // namespace

size_t trellis_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                         int multiprocessors) {
  const int64_t splits = count_splits(rows, heads, nw, n, multiprocessors);
  return static_cast<size_t>(heads * nw * splits * row_sum_width(rows));
}

void sum_trellis_rows(const RowDescription& rows, const SumJob& job, int multiprocessors,
                      cudaStream_t stream) {
  with_trellis(rows.trellis, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
