// SPDX-License-Identifier: MIT
// The end of a row's code: the factors beside it, by half a warp.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/encode_view.h"
#include "cuda/half_warp.cuh"
#include "cuda/wide_floats.cuh"

namespace polarquant::cuda {

/// store_factors: returns whether they fit their form.
__device__ inline bool store_factors(const EncodeView& view, double scale, double bias,
                                     uint8_t* to) {
  constexpr float kHalfMin = 0x1p-16F;
  constexpr float kHalfMax = 65504.0F;
  constexpr float kWideMin = 0x1p-63F;
  constexpr float kWideMax = 0x1p64F - 0x1p54F;
  constexpr float kFloatMin = 0x1p-126F;
  constexpr float kFloatMax = 3.402823466e38F;
  const float stored_scale = __fdiv_rn(static_cast<float>(scale), view.scale_unit);
  const float stored_bias = __fdiv_rn(static_cast<float>(bias), view.bias_unit);
  const bool half = view.factor_form == FactorForm::float16;
  const bool wide = view.factor_form == FactorForm::wide16;
  const float least = half ? kHalfMin : wide ? kWideMin : kFloatMin;
  const float most = half ? kHalfMax : wide ? kWideMax : kFloatMax;
  const bool fits = stored_scale == 0 || (stored_scale >= least && stored_scale <= most);
  if (!fits || !(fabsf(stored_bias) <= most)) return false;
  uint32_t words[2] = {__float_as_uint(stored_scale), __float_as_uint(stored_bias)};
  if (half)
    words[0] = __half_as_ushort(__float2half_rn(stored_scale)) |
               static_cast<uint32_t>(__half_as_ushort(__float2half_rn(stored_bias))) << 16;
  if (wide && !to_wide_factors(stored_scale, stored_bias, view.is_l2 == 0, &words[0])) return false;
  for (int i = 0; i < (half || wide ? 4 : 8); ++i)
    to[i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
  return true;
}

/// A row's ⟨u, û⟩ (dot_exact) from part to part: coordinate j goes into sum j mod 16, one for each
/// lane.
__device__ inline double sum_so_far(const EncodePart& part, const EncodeRows& rows, int64_t row) {
  return part.is_first != 0 ? 0 : rows.sums[row * kDotSums + threadIdx.x % kHalfWarp];
}

/// After the last part writes the factors, or all of the row's code where it is the centre; after
/// others keeps the sum. All lanes of a warp take part, those of a row that is not there with
/// is_there false.
__device__ inline void end_part(const EncodeView& view, const EncodePart& part,
                                const EncodeRows& rows, int64_t row, bool is_there, double sum) {
  const int lane = threadIdx.x % kHalfWarp;
  if (part.is_last == 0) {
    if (is_there) rows.sums[row * kDotSums + lane] = sum;
    return;
  }
  for (int width = kHalfWarp / 2; width >= 1; width /= 2)
    sum += __shfl_down_sync(~0U, sum, width, kHalfWarp);
  if (!is_there) return;
  const RowLength length = rows.lengths[row];
  uint8_t* code = rows.codes + row * view.row_bytes;
  if (length.norm == 0) {
    for (uint32_t i = lane; i < view.row_bytes; i += kHalfWarp) code[i] = 0;
    return;
  }
  if (lane != 0) return;
  const double alignment = fmax(sum / view.dim, view.least_alignment);
  const double scale =
      fmin(fmax(length.norm / (view.root_dim * alignment), static_cast<double>(view.min_scale)),
           static_cast<double>(view.max_scale));
  if (!store_factors(view, scale, length.bias, code + view.code_bytes))
    atomicMin(rows.refused, static_cast<Refused>(rows.first_row + row) << kRefusalBits |
                                static_cast<Refused>(Refusal::factors));
}

}  // namespace polarquant::cuda
