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

/// The inputs of a row's ⟨u, û⟩ (dot_exact) over a part: coordinate j goes into sum j mod 16, one
/// for each lane.
struct SignedRow {
  const float* u;
  const float* scales;  // of segments, or null
  const uint8_t* windows;
  const float2* cells;
  bool has_signs;

  __device__ float scale_of(int segment) const { return scales != nullptr ? scales[segment] : 1; }
  /// Adds the product of a value with what its code decodes to; `is_negative`: the code's sign.
  __device__ double add(double sum, float value, float coded, bool is_negative) const {
    const float decoded = has_signs && is_negative ? -coded : coded;
    return __fma_rn(static_cast<double>(value), static_cast<double>(decoded), sum);
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
  const float scale = row.scale_of(segment);
  *signs = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // The sign is that of what was coded, which may have become 0.
    const bool is_negative = (row.scales != nullptr ? values[i] / scale : values[i]) < 0;
    sum = row.add(sum, values[i], coded[i] * scale, is_negative);
    *signs |= half_ballot(is_negative) << (kHalfWarp * i);
  }
  return sum;
}

/// The last segment, where it is shorter.
__device__ inline double add_last_segment(const SignedRow& row, int segment, int count, double sum,
                                          uint64_t* signs) {
  const int lane = threadIdx.x % kHalfWarp;
  const int half = (count + 1) / 2;
  const float scale = row.scale_of(segment);
  *signs = 0;
  for (int first = 0; first < count; first += kHalfWarp) {
    const int j = first + lane;
    bool is_negative = false;
    if (j < count) {
      const float value = row.u[segment * kSegmentDims + j];
      is_negative = value / scale < 0;
      const bool is_y = j >= half;
      const float2 cell = row.cells[row.windows[segment * kSegmentPairs + j - (is_y ? half : 0)]];
      sum = row.add(sum, value, (is_y ? cell.y : cell.x) * scale, is_negative);
    }
    *signs |= half_ballot(is_negative) << first;
  }
  return sum;
}

/// Writes a part's plane of signs, and continues the sums of ⟨u, û⟩.
__device__ inline double write_signs(const EncodePart& part, const SignedRow& row, double sum,
                                     bool write, uint8_t* plane) {
  const int lane = threadIdx.x % kHalfWarp;
#pragma unroll 1
  for (int segment = 0; segment * kSegmentDims < part.dim; ++segment) {
    const int count = min(kSegmentDims, part.dim - segment * kSegmentDims);
    uint64_t signs;
    sum = count == kSegmentDims ? add_segment(row, segment, sum, &signs)
                                : add_last_segment(row, segment, count, sum, &signs);
    const auto byte = static_cast<uint32_t>(segment * 8 + lane);
    if (write && lane < 8 && byte < part.sign_bytes)
      plane[byte] = static_cast<uint8_t>(signs >> (8 * lane));
  }
  return sum;
}

}  // namespace polarquant::cuda
