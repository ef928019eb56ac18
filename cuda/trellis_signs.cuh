// SPDX-License-Identifier: MIT
// A row's plane of signs, and its product with the path's cells, by half a warp.
#pragma once

#include <cstdint>

#include "cuda/trellis_step.cuh"

namespace polarquant::cuda {

inline constexpr int kSegmentPairs = 32;

/// A bit for each lane of this half of the warp.
__device__ inline uint64_t half_ballot(bool value) {
  return __ballot_sync(~0U, value) >> (threadIdx.x % 32 / kHalfWarp * kHalfWarp) & 0xffffU;
}

/// The inputs of a row's ⟨u, û⟩ (dot_exact): coordinate j goes into sum j mod 16, one for each
/// lane.
struct SignedRow {
  const float* u;
  const uint8_t* windows;
  const float2* cells;
  bool has_signs;

  /// With signs of their own both are magnitudes, and the product is the same.
  __device__ double add(double sum, float value, float coded) const {
    const float factor = has_signs ? fabsf(value) : value;
    return __fma_rn(static_cast<double>(factor), static_cast<double>(coded), sum);
  }
};

/// Segment `segment` of 64 coordinates: continues the sum, and sets `signs`.
__device__ inline double add_segment(const SignedRow& row, int segment, double sum,
                                     uint64_t* signs) {
  const int lane = threadIdx.x % kHalfWarp;
  const float* u = row.u + segment * kSegmentDims + lane;
  const uint8_t* windows = row.windows + segment * kSegmentPairs + lane;
  const float values[4] = {u[0], u[kHalfWarp], u[2 * kHalfWarp], u[3 * kHalfWarp]};
  const float2 cells[2] = {row.cells[windows[0]], row.cells[windows[kHalfWarp]]};
  const float coded[4] = {cells[0].x, cells[1].x, cells[0].y, cells[1].y};
  *signs = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum = row.add(sum, values[i], coded[i]);
    *signs |= half_ballot(values[i] < 0) << (kHalfWarp * i);
  }
  return sum;
}

/// The last segment, where it is shorter.
__device__ inline double add_last_segment(const SignedRow& row, int segment, int count, double sum,
                                          uint64_t* signs) {
  const int lane = threadIdx.x % kHalfWarp;
  const int half = (count + 1) / 2;
  *signs = 0;
  for (int first = 0; first < count; first += kHalfWarp) {
    const int j = first + lane;
    float value = 0;
    if (j < count) {
      value = row.u[segment * kSegmentDims + j];
      const bool is_y = j >= half;
      const float2 cell = row.cells[row.windows[segment * kSegmentPairs + j - (is_y ? half : 0)]];
      sum = row.add(sum, value, is_y ? cell.y : cell.x);
    }
    *signs |= half_ballot(value < 0) << first;
  }
  return sum;
}

/// Writes the plane of signs and returns ⟨u, û⟩ to a row's first lane.
__device__ inline double write_signs(const EncodeView& view, const SignedRow& row, bool write,
                                     uint8_t* plane) {
  const int lane = threadIdx.x % kHalfWarp;
  double sum = 0;
#pragma unroll 1
  for (int segment = 0; segment * kSegmentDims < view.dim; ++segment) {
    const int count = min(kSegmentDims, view.dim - segment * kSegmentDims);
    uint64_t signs;
    sum = count == kSegmentDims ? add_segment(row, segment, sum, &signs)
                                : add_last_segment(row, segment, count, sum, &signs);
    const auto byte = static_cast<uint32_t>(segment * 8 + lane);
    if (write && lane < 8 && byte < view.sign_bytes)
      plane[byte] = static_cast<uint8_t>(signs >> (8 * lane));
  }
  for (int width = kHalfWarp / 2; width >= 1; width /= 2)
    sum += __shfl_down_sync(~0U, sum, width, kHalfWarp);
  return sum;
}

}  // namespace polarquant::cuda
