// SPDX-License-Identifier: MIT
// A thread keeps the sums of one unit in registers and steps through its block's part of the rows:
// threads side by side have units of one row, so that they read neighbouring bytes. The sums of a
// block's threads are added in shared memory, those of all blocks, in double, by a second kernel;
// no order depends on which comes first.
#include "cuda/row_sums.h"

#include <algorithm>

#include "cuda/row_launch.cuh"
#include "cuda/segment_rows.h"

namespace polarquant::cuda {
namespace {

/// Vectors of weights that a decoded row is added with at once.
constexpr int kWeightsAtOnce = 4;
/// The most rows that a thread adds: float sums of more would lose precision.
constexpr int64_t kRowsOfThread = 1024;
/// Numbers of a thread in shared memory: its unit's sums, and the weights'.
constexpr int kSlots = kUnitValues + 1;

/// How rows and units are cut.
struct SumPlan {
  int unit_tiles;
  int units_of_tile;
  int64_t splits;
  int64_t rows_of_split;
};

SumPlan plan_sums(const RowDescription& rows, int64_t heads, int64_t weight_tiles, int64_t n,
                  int multiprocessors) {
  SumPlan plan;
  plan.unit_tiles = static_cast<int>(div_up(rows.units, kRowThreads));
  plan.units_of_tile = static_cast<int>(div_up(rows.units, plan.unit_tiles));
  const int64_t rows_at_once = kRowThreads / plan.units_of_tile;
  const int64_t wanted = div_up(int64_t{multiprocessors} * kBlocksPerMultiprocessor,
                                heads * weight_tiles * plan.unit_tiles);
  const int64_t least = div_up(n, rows_at_once * kRowsOfThread);
  // Splits of few rows cost more than they save.
  const int64_t most = std::max<int64_t>(1, n / (rows_at_once * 8));
  plan.splits = std::max(least, std::min(wanted, most));
  plan.rows_of_split = div_up(n, plan.splits);
  return plan;
}

int64_t weights_at_once(int64_t nw) { return nw == 1 ? 1 : kWeightsAtOnce; }

template <typename Decoder, int kWeights>
__global__ void __launch_bounds__(kRowThreads)
    sum_rows_kernel(const __grid_constant__ RowDescription rows, const __grid_constant__ SumJob job,
                    SumPlan plan, int copies_log2) {
  extern __shared__ __align__(128) uint8_t shared[];
  const SharedPoints points(rows, reinterpret_cast<float2*>(shared), copies_log2);
  __syncthreads();
  const int64_t split = blockIdx.x;
  const int unit_tile = static_cast<int>(blockIdx.y) % plan.unit_tiles;
  const int64_t first_weight = static_cast<int64_t>(blockIdx.y) / plan.unit_tiles * kWeights;
  const int64_t head = blockIdx.z;
  const int first_unit = unit_tile * plan.units_of_tile;
  const int units = min(plan.units_of_tile, rows.units - first_unit);
  const int rows_at_once = kRowThreads / plan.units_of_tile;
  const int in_tile = static_cast<int>(threadIdx.x) % plan.units_of_tile;
  const int in_block = static_cast<int>(threadIdx.x) / plan.units_of_tile;
  const bool works = in_block < rows_at_once && in_tile < units;
  const int weights = static_cast<int>(min(job.nw - first_weight, static_cast<int64_t>(kWeights)));
  const uint8_t* codes = job.codes + head * static_cast<int64_t>(job.head_bytes);
  const uint8_t* end = job.codes + job.heads * static_cast<int64_t>(job.head_bytes);
  const int64_t end_row = min((split + 1) * plan.rows_of_split, job.n);

  float sums[kWeights][kUnitValues] = {};
  float weight_sums[kWeights] = {};
  if (works) {
    const Decoder decoder(rows, first_unit + in_tile, points);
    const int64_t first_row = split * plan.rows_of_split + in_block;
    RowWalk<Decoder> walk(rows, codes, end, job.n, first_row, rows_at_once);
    const float* weight = job.weights + (head * job.nw + first_weight) * job.n + first_row;
    // Few enough for an int: a split has up to kRowsOfThread for each thread.
    const auto left = static_cast<int>(div_up(end_row - first_row, rows_at_once));
    for (int i = 0; i < left; ++i) {
      const RowPlace place = walk.place();
      float y[kUnitValues];
      float factor = decoder.decode(place, y);
      if (Decoder::kFactors && rows.factor_bytes != 0)
        factor *= load_code_factors(rows, place.code).scale;
#pragma unroll
      for (int w = 0; w < kWeights; ++w) {
        const float row_weight = kWeights == 1 || w < weights ? weight[w * job.n] : 0;
        weight_sums[w] += row_weight;
        const float scale = row_weight * factor;
#pragma unroll
        for (int v = 0; v < kUnitValues; ++v) sums[w][v] = __fmaf_rn(scale, y[v], sums[w][v]);
      }
      walk.advance();
      weight += rows_at_once;
    }
  }

  // In the place of the tables.
  auto* slots = reinterpret_cast<float*>(shared);
  const int64_t width = row_sum_width(rows);
  for (int w = 0; w < weights; ++w) {
    __syncthreads();
    float* mine = slots + threadIdx.x * kSlots;
#pragma unroll
    for (int v = 0; v < kWeights; ++v) {
      if (v != w) continue;
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) mine[i] = sums[v][i];
      mine[kUnitValues] = weight_sums[v];
    }
    __syncthreads();
    float* to = job.parts + ((head * job.nw + first_weight + w) * plan.splits + split) * width;
    const auto sum_of = [&](int unit, int slot) {
      float sum = 0;
      for (int g = 0; g < rows_at_once; ++g)
        sum += slots[(g * plan.units_of_tile + unit) * kSlots + slot];
      return sum;
    };
    for (int i = threadIdx.x; i < units * kUnitValues; i += kRowThreads)
      to[first_unit * kUnitValues + i] = sum_of(i / kUnitValues, i % kUnitValues);
    if (unit_tile == 0 && threadIdx.x == 0) to[width - 1] = sum_of(0, kUnitValues);
  }
}

__global__ void __launch_bounds__(kRowThreads)
    add_parts_kernel(const float* parts, int64_t splits, int64_t width, double* sums) {
  const int64_t i = static_cast<int64_t>(blockIdx.y) * kRowThreads + threadIdx.x;
  if (i >= width) return;
  const float* from = parts + static_cast<int64_t>(blockIdx.x) * splits * width + i;
  double sum = 0;
  for (int64_t split = 0; split < splits; ++split) sum += static_cast<double>(from[split * width]);
  sums[static_cast<int64_t>(blockIdx.x) * width + i] = sum;
}

struct Launch {
  const RowDescription& rows;
  const SumJob& job;
  int multiprocessors;
  cudaStream_t stream;

  template <typename Decoder>
  void run() const {
    weights_at_once(job.nw) == 1 ? run_weights<Decoder, 1>()
                                 : run_weights<Decoder, kWeightsAtOnce>();
  }
  template <typename Decoder, int kWeights>
  void run_weights() const {
    constexpr auto kKernel = sum_rows_kernel<Decoder, kWeights>;
    allow_shared_memory<kKernel>();
    const int64_t tiles = div_up(job.nw, kWeights);
    const SumPlan plan = plan_sums(rows, job.heads, tiles, job.n, multiprocessors);
    const int copies_log2 = copies_log2_of<Decoder>(rows);
    const size_t shared =
        std::max(table_bytes(rows.entries, copies_log2), sizeof(float) * kRowThreads * kSlots);
    const dim3 grid(static_cast<unsigned>(plan.splits),
                    static_cast<unsigned>(tiles * plan.unit_tiles),
                    static_cast<unsigned>(job.heads));
    kKernel<<<grid, kRowThreads, shared, stream>>>(rows, job, plan, copies_log2);
    POLAR_CUDA_CHECK_LAUNCH(sum_rows_kernel);
    add_sum_parts(rows, job, plan.splits, stream);
  }
};

}  // namespace

void add_sum_parts(const RowDescription& rows, const SumJob& job, int64_t splits,
                   cudaStream_t stream) {
  const int64_t width = row_sum_width(rows);
  const dim3 grid(static_cast<unsigned>(job.heads * job.nw),
                  static_cast<unsigned>(div_up(width, kRowThreads)));
  add_parts_kernel<<<grid, kRowThreads, 0, stream>>>(job.parts, splits, width, job.sums);
  POLAR_CUDA_CHECK_LAUNCH(add_parts_kernel);
}

size_t row_sum_parts(const RowDescription& rows, int64_t heads, int64_t nw, int64_t n,
                     int multiprocessors) {
  const SumPlan plan = plan_sums(rows, heads, div_up(nw, weights_at_once(nw)), n, multiprocessors);
  const auto parts = static_cast<size_t>(heads * nw * plan.splits * row_sum_width(rows));
  if (!have_segments(rows)) return parts;
  return std::max(parts, segment_sum_parts(rows, heads, nw, n, multiprocessors));
}

void sum_rows(const RowDescription& rows, const SumJob& job, int multiprocessors,
              cudaStream_t stream) {
  if (have_segments_at(rows, job.codes, job.head_bytes))
    return sum_segments(rows, job, multiprocessors, stream);
  with_decoder(rows, job.codes, job.head_bytes, Launch{rows, job, multiprocessors, stream});
}

}  // namespace polarquant::cuda
