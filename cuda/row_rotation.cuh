// SPDX-License-Identifier: MIT
// The rotation of a row that lies in shared memory, by a warp or a thread block. Every float
// operation is one of src/codec's plain code: sums by src/codec/dot.cc, the rotation by
// src/codec/rotation.cc and walsh_hadamard.cc, and the butterflies of a level may come in any
// order, since each value takes part in one.
#pragma once

#include <algorithm>

#include "cuda/rotation_view.h"

namespace polarquant::cuda {

inline constexpr int kSums = 16;
inline constexpr int kRounds = 3;
inline constexpr int kLayersPerRound = 3;
/// Values are padded by 2^kPadShift.
inline constexpr int kPadShift = 3;
inline constexpr int kPadded = 1 << kPadShift;
inline constexpr float kSqrtHalf = 0.70710678F;

/// Threads of a block that shares a row: each has a butterfly of eight values.
inline int row_threads(const RotationView& view, int most) {
  const int values = view.kind == Rotation::hadamard ? view.transform_size : view.dim;
  return std::clamp(values / 8 / 32 * 32, 32, most);
}

/// The threads that share a row: a warp, or a block.
template <bool kWarp>
struct RowThreads {
  __device__ static int index() { return static_cast<int>(kWarp ? threadIdx.x % 32 : threadIdx.x); }
  __device__ static int count() { return kWarp ? 32 : static_cast<int>(blockDim.x); }
  __device__ static void wait() {
    if constexpr (kWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  __device__ static bool all(bool value) {
    if constexpr (kWarp) {
      return __all_sync(~0U, value) != 0;
    } else {
      return __syncthreads_and(value ? 1 : 0) != 0;
    }
  }
  /// The largest of values that are not negative, for all.
  __device__ static float largest(float value) {
    // Such floats sort like their bits.
    const unsigned most = __reduce_max_sync(~0U, __float_as_uint(value));
    if constexpr (kWarp) {
      return __uint_as_float(most);
    } else {
      __shared__ unsigned shared_most;
      if (threadIdx.x == 0) shared_most = 0;
      __syncthreads();
      if (threadIdx.x % 32 == 0) atomicMax(&shared_most, most);
      __syncthreads();
      return __uint_as_float(shared_most);
    }
  }
  /// The first thread's value, for all.
  __device__ static double first(double value) {
    if constexpr (kWarp) {
      return __shfl_sync(~0U, value, 0);
    } else {
      __shared__ double shared_value;
      if (threadIdx.x == 0) shared_value = value;
      __syncthreads();
      const double found = shared_value;
      __syncthreads();
      return found;
    }
  }
};

/// Where value i lies in shared memory: values 2^m apart are in different banks for any m.
__device__ inline int place(int i) { return i + (i >> kPadShift); }
__host__ __device__ inline int row_floats(int dim) { return dim + (dim >> kPadShift) + 1; }

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
/// multiple of kPadded; then the partners lie equally far apart. kLast: values are scaled at the
/// end.
template <typename Threads, int kLevels, bool kAligned, bool kLast>
__device__ inline void transform_pass(float* row, int offset, int size, int distance, float scale) {
  constexpr int kValues = 1 << kLevels;
  const int apart = distance < kPadded ? distance : place(distance);
  for (int group = Threads::index(); group < size / kValues; group += Threads::count()) {
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
  Threads::wait();
}

/// The normalized transform of row[offset] … row[offset+size−1].
template <typename Threads, bool kAligned>
__device__ inline void transform_from(float* row, int offset, int size, float scale) {
  int distance = 1;
  for (; 8 * distance < size; distance *= 8)
    transform_pass<Threads, 3, kAligned, false>(row, offset, size, distance, scale);
  if (8 * distance == size) {
    transform_pass<Threads, 3, kAligned, true>(row, offset, size, distance, scale);
  } else if (4 * distance == size) {
    transform_pass<Threads, 2, kAligned, true>(row, offset, size, distance, scale);
  } else {
    transform_pass<Threads, 1, kAligned, true>(row, offset, size, distance, scale);
  }
}
template <typename Threads>
__device__ inline void transform(float* row, int offset, int size, float scale) {
  // Passes of few values are at distances of kPadded or more, since rows are not that short.
  if (offset % kPadded == 0 && size > kPadded) {
    transform_from<Threads, true>(row, offset, size, scale);
  } else {
    transform_from<Threads, false>(row, offset, size, scale);
  }
}

template <typename Threads>
__device__ inline void flip(const RotationView& view, int layer, float* row) {
  const uint32_t* masks = view.sign_masks + static_cast<size_t>(layer) * view.dim;
  for (int i = Threads::index(); i < view.dim; i += Threads::count())
    row[place(i)] = flipped(row[place(i)], masks[i]);
  Threads::wait();
}

/// Signs, the butterfly of a round, signs.
template <typename Threads>
__device__ inline void flip_butterfly_flip(const RotationView& view, int round, float* row) {
  const int dim = view.dim;
  const uint32_t* before = view.sign_masks + static_cast<size_t>(kLayersPerRound * round + 1) * dim;
  const uint32_t* after = before + dim;
  const int half = dim / 2;
  const int low = round % 2 == 0 ? 0 : dim - 2 * half;
  const int high = low + half;
  for (int i = Threads::index(); i < half; i += Threads::count()) {
    float a = flipped(row[place(low + i)], before[low + i]);
    float b = flipped(row[place(high + i)], before[high + i]);
    cross(a, b);
    row[place(low + i)] = flipped(a * kSqrtHalf, after[low + i]);
    row[place(high + i)] = flipped(b * kSqrtHalf, after[high + i]);
  }
  if (dim % 2 != 0 && Threads::index() == 0) {
    const int alone = low == 0 ? dim - 1 : 0;
    row[place(alone)] = flipped(row[place(alone)], before[alone] ^ after[alone]);
  }
  Threads::wait();
}

template <typename Threads>
__device__ inline void rotate(const RotationView& view, float* row) {
  if (view.kind == Rotation::none) return;
  const int back = view.dim - view.transform_size;
  for (int round = 0; round < kRounds; ++round) {
    flip<Threads>(view, kLayersPerRound * round, row);
    transform<Threads>(row, 0, view.transform_size, view.transform_scale);
    flip_butterfly_flip<Threads>(view, round, row);
    transform<Threads>(row, back, view.transform_size, view.transform_scale);
  }
}

/// round_for_basis of the row, into planes of low and high bytes; returns to all what 1 means.
template <typename Threads>
__device__ inline float round_for_basis(const RotationView& view, const float* row,
                                        int8_t* values) {
  float most = 0;
  for (int j = Threads::index(); j < view.dim; j += Threads::count())
    most = fmaxf(most, fabsf(row[place(j)]));
  most = Threads::largest(most);
  const float to_values = view.largest_value / most;
  const bool is_finite = isfinite(to_values);
  const auto stride = static_cast<int>(view.value_stride);
  for (int j = Threads::index(); j < stride; j += Threads::count()) {
    const int value = is_finite && j < view.dim ? __float2int_rn(row[place(j)] * to_values) : 0;
    const auto low = static_cast<int8_t>(value);
    values[j] = low;
    values[stride + j] = static_cast<int8_t>((value - low) >> 8);
  }
  return is_finite ? most / view.largest_value : 0.0F;
}

}  // namespace polarquant::cuda
