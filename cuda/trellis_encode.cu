// SPDX-License-Identifier: MIT
// Half a warp codes a row of a part: trellis_search.cuh finds its path.
#include <algorithm>

#include "cuda/cuda_check.h"
#include "cuda/row_factors.cuh"
#include "cuda/shared_limit.h"
#include "cuda/trellis_encode.h"
#include "cuda/trellis_search.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kMostWarps = 4;

int cost_stride_of(int step) {
  return std::max(kHalfWarp, trellis_states(step));  // TrellisStep::kCostStride
}

/// pack_windows.
template <int kStep>
__device__ void write_ring(int pairs, const uint8_t* windows, uint8_t* ring) {
  for (int group8 = threadIdx.x % kHalfWarp; 8 * group8 < pairs; group8 += kHalfWarp) {
    const int count = min(8, pairs - 8 * group8);
    unsigned long long bits = 0;
    for (int i = 0; i < count; ++i) {
      const unsigned long long own = windows[8 * group8 + i] >> (kWindowBits - kStep);
      bits |= own << (i * kStep);
    }
    for (int bit = 0; bit < count * kStep; bit += 8)
      ring[group8 * kStep + bit / 8] = static_cast<uint8_t>(bits >> bit);
  }
}

template <int kStep, bool kExact>
__global__ void __launch_bounds__(kMostWarps * 32)
    trellis_encode_kernel(const __grid_constant__ EncodeView view,
                          const __grid_constant__ EncodePart part,
                          const __grid_constant__ EncodeRows rows) {
  extern __shared__ __align__(16) uint8_t shared[];
  auto* cells = reinterpret_cast<float2*>(shared);
  for (int i = threadIdx.x; i < kCells; i += blockDim.x)
    cells[i] = {part.cell_x[i], part.cell_y[i]};
  __syncthreads();
  const int block_rows = static_cast<int>(blockDim.x) / kHalfWarp;
  const int in_block = static_cast<int>(threadIdx.x) / kHalfWarp;
  const RowScratch sizes(TrellisStep<kStep>::kCostStride, part.pairs);
  uint8_t* scratch = shared + kCells * sizeof(float2) + in_block * sizes.bytes();
  const int64_t own = static_cast<int64_t>(blockIdx.x) * block_rows + in_block;
  // A warp may have no second row: its lanes then repeat the last one, and write nothing.
  const bool is_there = own < rows.n;
  const int64_t row = is_there ? own : rows.n - 1;
  const float* u = rows.u + row * view.dim + part.first;
  const float* scales = view.scales != nullptr ? view.scales + part.first / kSegmentDims : nullptr;
  RowSearch<kStep> search(part, u, scales, scratch);
  const uint8_t* windows = search.template search<kExact>();
  const bool is_code = is_there && rows.lengths[row].norm != 0;
  uint8_t* code = rows.codes + row * view.row_bytes;
  const double sum = write_signs(part, {u, scales, windows, cells, part.has_signs != 0},
                                 sum_so_far(part, rows, row), is_code, code + part.signs_offset);
  if (is_code) write_ring<kStep>(part.pairs, windows, code + part.codes_offset);
  end_part(view, part, rows, row, is_there, sum);
}

int warps_of(const EncodePart& part, size_t most_shared_bytes) {
  const RowScratch sizes(cost_stride_of(part.step_bits), part.pairs);
  const size_t left = most_shared_bytes - kCells * sizeof(float2);
  return static_cast<int>(std::min<size_t>(kMostWarps, left / (2 * size_t{sizes.bytes()})));
}

template <int kStep, bool kExact>
void launch(const EncodeView& view, const EncodePart& part, const EncodeRows& rows,
            size_t most_shared_bytes, cudaStream_t stream) {
  constexpr auto kKernel = trellis_encode_kernel<kStep, kExact>;
  allow_shared_memory<kKernel>();
  const int warps = warps_of(part, most_shared_bytes);
  const auto grid = static_cast<unsigned>((rows.n + 2 * warps - 1) / (2 * warps));
  kKernel<<<grid, warps * 32, trellis_shared_bytes(part, most_shared_bytes), stream>>>(view, part,
                                                                                       rows);
  POLAR_CUDA_CHECK_LAUNCH(trellis_encode_kernel);
}

}  // namespace

size_t trellis_shared_bytes(const EncodePart& part, size_t most_shared_bytes) {
  const int warps = warps_of(part, most_shared_bytes);
  const RowScratch sizes(cost_stride_of(part.step_bits), part.pairs);
  return warps == 0 ? 0 : kCells * sizeof(float2) + static_cast<size_t>(2 * warps) * sizes.bytes();
}

void trellis_encode(const EncodeView& view, const EncodePart& part, const EncodeRows& rows,
                    size_t most_shared_bytes, cudaStream_t stream) {
  using Launch =
      void (*)(const EncodeView&, const EncodePart&, const EncodeRows&, size_t, cudaStream_t);
  // By bits a pair.
  static constexpr Launch kLaunches[] = {launch<1, false>, launch<2, false>, launch<3, false>,
                                         launch<4, false>, launch<5, false>, launch<6, false>,
                                         launch<7, false>, launch<8, false>};
  static constexpr Launch kExactLaunches[] = {launch<1, true>, launch<2, true>, launch<3, true>,
                                              launch<4, true>, launch<5, true>, launch<6, true>,
                                              launch<7, true>, launch<8, true>};
  const Launch* launches = part.is_exact() ? kExactLaunches : kLaunches;
  launches[part.step_bits - 1](view, part, rows, most_shared_bytes, stream);
}

}  // namespace polarquant::cuda
