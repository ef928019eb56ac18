// SPDX-License-Identifier: MIT
// Half a warp codes a row of a part, segment by segment: each lane has four coordinates.
#include "cuda/cuda_check.h"
#include "cuda/magnitude_encode.h"
#include "cuda/row_factors.cuh"
#include "cuda/trellis_signs.cuh"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kRowsOfBlock = kThreads / kHalfWarp;
constexpr int kMostLevels = 128;
constexpr int kFieldGroup = 8;  // coordinates whose fields take whole bytes together

/// How many of the 2^bits − 1 rising boundaries are below the magnitude.
__device__ int level_of(const float* boundaries, int bits, float magnitude) {
  int found = 0;
  for (int half = 1 << bits >> 1; half > 0; half /= 2)
    found += boundaries[found + half - 1] < magnitude ? half : 0;
  return found;
}

__global__ void __launch_bounds__(kThreads)
    magnitude_encode_kernel(const __grid_constant__ EncodeView view,
                            const __grid_constant__ EncodePart part,
                            const __grid_constant__ EncodeRows rows) {
  __shared__ float levels[kMostLevels];
  __shared__ float boundaries[kMostLevels];
  __shared__ uint8_t indices[kRowsOfBlock][kSegmentDims];
  for (int i = threadIdx.x; i < kMostLevels; i += kThreads) {
    levels[i] = part.cell_x[i];
    boundaries[i] = part.cell_y[i];
  }
  __syncthreads();
  const int lane = threadIdx.x % kHalfWarp;
  const int in_block = static_cast<int>(threadIdx.x) / kHalfWarp;
  const int64_t own = static_cast<int64_t>(blockIdx.x) * kRowsOfBlock + in_block;
  // As in trellis_encode.cu.
  const bool is_there = own < rows.n;
  const int64_t row = is_there ? own : rows.n - 1;
  const bool is_code = is_there && rows.lengths[row].norm != 0;
  const float* u = rows.u + row * view.dim + part.first + lane;
  uint8_t* code = rows.codes + row * view.row_bytes;
  uint8_t* signs_to = code + part.signs_offset;
  uint8_t* fields_to = code + part.codes_offset;
  double sum = sum_so_far(part, rows, row);
  for (int first = 0; first < part.dim; first += kSegmentDims) {
    const float scale = view.scales[(part.first + first) / kSegmentDims];
    uint64_t signs = 0;
#pragma unroll
    for (int i = 0; i < kSegmentDims / kHalfWarp; ++i) {
      const float value = u[first + kHalfWarp * i];
      const float scaled = value / scale;
      const bool is_negative = scaled < 0;
      const int index = level_of(boundaries, part.step_bits, fabsf(scaled));
      indices[in_block][lane + kHalfWarp * i] = static_cast<uint8_t>(index);
      const float decoded = levels[index] * scale;
      sum = __fma_rn(static_cast<double>(value),
                     static_cast<double>(is_negative ? -decoded : decoded), sum);
      signs |= half_ballot(is_negative) << (kHalfWarp * i);
    }
    __syncwarp();
    if (is_code && lane < kSegmentDims / kFieldGroup) {
      signs_to[first / 8 + lane] = static_cast<uint8_t>(signs >> (8 * lane));
      unsigned long long fields = 0;
      for (int i = 0; i < kFieldGroup; ++i) {
        const unsigned long long index = indices[in_block][kFieldGroup * lane + i];
        fields |= index << (part.step_bits * i);
      }
      uint8_t* to = fields_to + (first / kFieldGroup + lane) * part.step_bits;
      for (int byte = 0; byte < part.step_bits; ++byte)
        to[byte] = static_cast<uint8_t>(fields >> (8 * byte));
    }
    __syncwarp();
  }
  end_part(view, part, rows, row, is_there, sum);
}

}  // namespace

void magnitude_encode(const EncodeView& view, const EncodePart& part, const EncodeRows& rows,
                      cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((rows.n + kRowsOfBlock - 1) / kRowsOfBlock);
  magnitude_encode_kernel<<<grid, kThreads, 0, stream>>>(view, part, rows);
  POLAR_CUDA_CHECK_LAUNCH(magnitude_encode_kernel);
}

}  // namespace polarquant::cuda
