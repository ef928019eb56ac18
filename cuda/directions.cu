// SPDX-License-Identifier: MIT
// A thread block a row. Every float operation is one of src/codec's plain code: sums by
// src/codec/dot.cc, the rotation by src/codec/rotation.cc and walsh_hadamard.cc, whose levels may
// be worked through in any order within, since each value takes part in one butterfly of a level.
#include <algorithm>

#include "cuda/cuda_check.h"
#include "cuda/directions.h"
#include "cuda/shared_limit.h"

namespace polarquant::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr int kSums = 16;
/// As much as the kernel has beside its row, or more.
constexpr size_t kStaticBytes = 64;
constexpr int kRounds = 3;
constexpr int kLayersPerRound = 3;
/// Values that take part in a pass of a transform together.
constexpr int kPadShift = 3;
constexpr int kPadded = 1 << kPadShift;
constexpr float kSqrtHalf = 0.70710678F;

/// Where value i lies in shared memory: so that values 2^m apart are in different banks for any m.
__device__ inline int place(int i) { return i + (i >> kPadShift); }

/// dot_exact by half a warp, whose lane 0 has it; `get(i)` gives a product's factors. Called by
/// whole warps.
template <typename Get>
__device__ inline double dot_exact(int n, int lane, const Get& get) {
  double sum = 0;
#pragma unroll 4
  for (int i = lane; i < n; i += kSums) {
    const float2 factors = get(i);
    // The product of two floats is exact.
    sum = __fma_rn(static_cast<double>(factors.x), static_cast<double>(factors.y), sum);
  }
  for (int width = kSums / 2; width >= 1; width /= 2)
    sum += __shfl_down_sync(~0U, sum, width, kSums);
  return sum;
}

__device__ inline float flipped(float value, uint32_t mask) {
  return __uint_as_float(__float_as_uint(value) ^ mask);
}

__device__ inline void cross(float& a, float& b) {
  const float sum = a + b;
  b = a - b;
  a = sum;
}

/// kLevels levels of a transform: butterflies at distance, 2·distance, …. kAligned: it begins at a
/// multiple of kPadded; then values that meet lie equally far apart. kLast: they are scaled behind
/// it.
template <int kLevels, bool kAligned, bool kLast>
__device__ inline void transform_pass(float* row, int offset, int size, int distance, float scale) {
  constexpr int kValues = 1 << kLevels;
  const int apart = distance < kPadded ? distance : place(distance);
  for (int group = threadIdx.x; group < size / kValues; group += blockDim.x) {
    const int in_run = group & (distance - 1);
    const int first = offset + (group - in_run) * kValues + in_run;
    float* const at = row + place(first);
    const auto value = [&](int i) -> float& {
      return kAligned ? at[i * apart] : row[place(first + i * distance)];
    };
    float values[kValues];
#pragma unroll
    for (int i = 0; i < kValues; ++i) values[i] = value(i);
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        if ((i >> level & 1) == 0) cross(values[i], values[i | 1 << level]);
      }
    }
#pragma unroll
    for (int i = 0; i < kValues; ++i) value(i) = kLast ? values[i] * scale : values[i];
  }
  __syncthreads();
}

/// The normalized transform of row[offset] … row[offset+size−1].
template <bool kAligned>
__device__ inline void transform_from(float* row, int offset, int size, float scale) {
  int distance = 1;
  for (; 8 * distance < size; distance *= 8)
    transform_pass<3, kAligned, false>(row, offset, size, distance, scale);
  if (8 * distance == size) {
    transform_pass<3, kAligned, true>(row, offset, size, distance, scale);
  } else if (4 * distance == size) {
    transform_pass<2, kAligned, true>(row, offset, size, distance, scale);
  } else {
    transform_pass<1, kAligned, true>(row, offset, size, distance, scale);
  }
}
__device__ inline void transform(float* row, int offset, int size, float scale) {
  // Passes of few values are at distances of kPadded or more, since rows are not that short.
  if (offset % kPadded == 0 && size > kPadded) {
    transform_from<true>(row, offset, size, scale);
  } else {
    transform_from<false>(row, offset, size, scale);
  }
}

__device__ inline void flip(const EncodeView& view, int layer, float* row) {
  const uint32_t* masks = view.sign_masks + static_cast<size_t>(layer) * view.dim;
  for (int i = threadIdx.x; i < view.dim; i += blockDim.x)
    row[place(i)] = flipped(row[place(i)], masks[i]);
  __syncthreads();
}

/// Signs, the butterfly of a round, signs.
__device__ inline void flip_butterfly_flip(const EncodeView& view, int round, float* row) {
  const int dim = view.dim;
  const uint32_t* before = view.sign_masks + static_cast<size_t>(kLayersPerRound * round + 1) * dim;
  const uint32_t* after = before + dim;
  const int half = dim / 2;
  const int low = round % 2 == 0 ? 0 : dim - 2 * half;
  const int high = low + half;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    float a = flipped(row[place(low + i)], before[low + i]);
    float b = flipped(row[place(high + i)], before[high + i]);
    cross(a, b);
    row[place(low + i)] = flipped(a * kSqrtHalf, after[low + i]);
    row[place(high + i)] = flipped(b * kSqrtHalf, after[high + i]);
  }
  if (dim % 2 != 0 && threadIdx.x == 0) {
    const int alone = low == 0 ? dim - 1 : 0;
    row[place(alone)] = flipped(row[place(alone)], before[alone] ^ after[alone]);
  }
  __syncthreads();
}

__device__ inline void rotate(const EncodeView& view, float* row) {
  if (view.rotation == Rotation::none) return;
  const int back = view.dim - view.transform_size;
  for (int round = 0; round < kRounds; ++round) {
    flip(view, kLayersPerRound * round, row);
    transform(row, 0, view.transform_size, view.transform_scale);
    flip_butterfly_flip(view, round, row);
    transform(row, back, view.transform_size, view.transform_scale);
  }
}

__global__ void __launch_bounds__(kMostThreads)
    make_directions_kernel(EncodeView view, const float* x, int64_t first_row, float* u,
                           RowLength* lengths, Refused* refused) {
  extern __shared__ float row[];
  __shared__ double shared_norm;
  const int dim = view.dim;
  const int64_t number = blockIdx.x;
  const float* input = x + number * dim;
  bool finite = true;
  for (int j = threadIdx.x; j < dim; j += blockDim.x) {
    const float value = input[j];
    finite = finite && isfinite(value);
    row[place(j)] = value;
  }
  finite = __syncthreads_and(finite ? 1 : 0) != 0;
  if (finite && view.is_cosine != 0) {
    if (threadIdx.x < 32) {
      const double sum = dot_exact(dim, threadIdx.x % kSums, [&](int i) {
        return make_float2(row[place(i)], row[place(i)]);
      });
      if (threadIdx.x == 0) shared_norm = sqrt(sum);
    }
    __syncthreads();
    const double norm = shared_norm;
    if (norm != 0) {
      for (int j = threadIdx.x; j < dim; j += blockDim.x)
        row[place(j)] = static_cast<float>(row[place(j)] / norm);
    }
    __syncthreads();
  }
  for (int j = threadIdx.x; j < dim; j += blockDim.x) row[place(j)] -= view.centre[j];
  __syncthreads();
  if (threadIdx.x < 32) {
    // Half a warp has the length, the other half the centre's part.
    const bool of_row = threadIdx.x < kSums;
    const double sum = dot_exact(dim, threadIdx.x % kSums, [&](int i) {
      const float value = row[place(i)];
      return make_float2(of_row ? value : view.centre[i], value);
    });
    const double along = __shfl_sync(~0U, sum, kSums);
    double norm2 = sum;
    if (threadIdx.x == 0) {
      if (!(norm2 > view.nearly_centre2)) norm2 = 0;
      double norm = sqrt(norm2);
      const bool allowed =
          finite && (norm2 == 0 || (norm >= view.shortest && norm <= view.longest));
      if (!allowed) {
        const Refusal why = finite ? Refusal::length : Refusal::not_finite;
        atomicMin(refused, static_cast<Refused>(first_row + number) << kRefusalBits |
                               static_cast<Refused>(why));
        norm = 0;
      }
      shared_norm = norm;
      lengths[number] = {norm, view.is_l2 != 0 ? norm : along};
    }
  }
  __syncthreads();
  const double norm = shared_norm;
  float* to = u + number * dim;
  if (norm == 0) {
    for (int j = threadIdx.x; j < dim; j += blockDim.x) to[j] = 0;
    return;
  }
  const double to_direction = view.root_dim / norm;
  for (int j = threadIdx.x; j < dim; j += blockDim.x)
    row[place(j)] = static_cast<float>(row[place(j)] * to_direction);
  __syncthreads();
  rotate(view, row);
  for (int j = threadIdx.x; j < dim; j += blockDim.x) to[j] = row[place(j)];
}

}  // namespace

size_t direction_shared_bytes(const EncodeView& view) {
  return (static_cast<size_t>(view.dim) + (view.dim >> kPadShift) + 1) * sizeof(float) +
         kStaticBytes;
}

void make_directions(const EncodeView& view, int64_t n, const float* x, int64_t first_row, float* u,
                     RowLength* lengths, Refused* refused, cudaStream_t stream) {
  const size_t shared_bytes = direction_shared_bytes(view) - kStaticBytes;
  allow_shared_memory<make_directions_kernel>(kStaticBytes);
  // A butterfly of eight values a thread.
  const int threads = std::clamp(view.transform_size / 8, 32, kMostThreads);
  make_directions_kernel<<<static_cast<unsigned>(n), threads, shared_bytes, stream>>>(
      view, x, first_row, u, lengths, refused);
  POLAR_CUDA_CHECK_LAUNCH(make_directions_kernel);
}

}  // namespace polarquant::cuda
