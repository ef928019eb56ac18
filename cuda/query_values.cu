// SPDX-License-Identifier: MIT
#include "cuda/cuda_check.h"
#include "cuda/group8_decode.cuh"
#include "cuda/query_values.h"

namespace polarquant::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    arrange_values_kernel(int64_t count, int padded_dim, const int8_t* values, int8_t* arranged) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= count) return;
  const int64_t query = at / padded_dim;
  const auto byte = static_cast<int>(at % padded_dim);
  const int in_segment = byte % kSegmentDims;
  const int u = in_segment / 16;
  const int c = in_segment % 16 / 4;
  arranged[at] = values[query * padded_dim + byte - in_segment + position_of_byte(c, u, byte % 4)];
}

/// A sum of both stages' products fits 32 bits up to this factor, for rows of 8192 dimensions.
constexpr int kMostFactor = 8;

/// One accumulator has the products of both of split stages, though a query's values have another
/// step in each. It has the first one's times an integer, and those of the second with values of
/// the query rounded to the step that this makes. A row's sum is then off by no more than the
/// length of what rounding changed times the row's length (Cauchy and Schwarz).
struct TileSteps {
  int factor;
  float unit;
  float ratio[kMaxStages];  // of tile values to values
};
__device__ TileSteps tile_steps(const QueryConstants& query, bool has_two) {
  const float first = query.dot_scale[0];
  const float second = query.dot_scale[1];
  if (!has_two || second == 0) return {1, first, {1, 0}};
  if (first < second) return {1, second, {first / second, 1}};
  const int factor = static_cast<int>(fminf(first / second, static_cast<float>(kMostFactor)));
  const float unit = first / static_cast<float>(factor);
  return {factor, unit, {1, second / unit}};
}

__device__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(~0U, value, distance);
  return value;
}

/// A query a warp.
__global__ void __launch_bounds__(kThreads)
    tile_queries_kernel(CodeView code, int nq, const QueryConstants* constants,
                        const int8_t* values, int8_t* tile_values, TileTerms* terms) {
  const auto q = static_cast<int>((blockIdx.x * kThreads + threadIdx.x) / 32);
  if (q >= nq) return;
  const TileSteps steps = tile_steps(constants[q], code.second_stage > 0);
  const int lane = threadIdx.x % 32;
  const size_t first = static_cast<size_t>(q) * code.padded_dim();
  float errors[kMaxStages] = {0, 0};
  float squares[kMaxStages] = {0, 0};
  for (int i = lane; i < code.padded_dim(); i += 32) {
    const int s = code.stage_of(i / kSegmentDims);
    const float exact =
        static_cast<float>(values[first + i]) * (s == 0 ? steps.ratio[0] : steps.ratio[1]);
    const int rounded = __float2int_rn(exact);
    tile_values[first + i] = static_cast<int8_t>(rounded);
    const float error = static_cast<float>(rounded) - exact;
    if (s == 0) {
      errors[0] += error * error;
      squares[0] += exact * exact;
    } else {
      errors[1] += error * error;
      squares[1] += exact * exact;
    }
  }
  // Floats of sums, and of the unit, are off by less than this of the sum's most.
  constexpr float kRounding = 4e-6F;
  float margin = 1;
#pragma unroll
  for (int s = 0; s < kMaxStages; ++s) {
    const float length = sqrtf(code.largest_squared_norm[s]);
    const float factor = s == 0 ? static_cast<float>(steps.factor) : 1.0F;
    margin += factor * length *
              (1.001F * sqrtf(warp_sum(errors[s])) + kRounding * sqrtf(warp_sum(squares[s])));
  }
  if (lane == 0) terms[q] = {steps.factor, __float2int_ru(margin), steps.unit};
}

}  // namespace

void make_tile_queries(const CodeView& code, int nq, const QueryConstants* constants,
                       const int8_t* values, int8_t* tile_values, TileTerms* terms,
                       cudaStream_t stream) {
  tile_queries_kernel<<<static_cast<unsigned>((nq + kThreads / 32 - 1) / (kThreads / 32)), kThreads,
                        0, stream>>>(code, nq, constants, values, tile_values, terms);
  POLAR_CUDA_CHECK_LAUNCH(tile_queries_kernel);
}

void arrange_values(const CodeView& code, int nq, const int8_t* values, int8_t* arranged,
                    cudaStream_t stream) {
  const int64_t count = int64_t{nq} * code.padded_dim();
  arrange_values_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0,
                          stream>>>(count, code.padded_dim(), values, arranged);
  POLAR_CUDA_CHECK_LAUNCH(arrange_values_kernel);
}

}  // namespace polarquant::cuda
