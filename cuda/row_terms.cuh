// SPDX-License-Identifier: MIT
// A row's terms, its score and its bounds, by the float operations of src/scan/model/scan_query.h
// in their order, and what rows are ranked by. This library is compiled without contraction
// (-fmad=false), so that products are rounded before they are added, as on the CPU.
#pragma once

#include <cuda_fp16.h>

#include "cuda/code_view.h"
#include "cuda/wide_floats.cuh"

namespace polarquant::cuda {

/// As ScanTerms.
struct RowTerms {
  float scale;
  float constant;
  float norm;
};

struct RowFactors {
  float scale;
  float bias;
};

__device__ inline RowFactors load_factors(const CodeView& code, const uint8_t* at) {
  if (code.factor_form == FactorForm::wide16) {
    const uint32_t both = *reinterpret_cast<const uint32_t*>(at);
    return {lower_wide(both) * code.scale_unit, upper_wide(both, code.is_l2 == 0) * code.bias_unit};
  }
  if (code.factor_form == FactorForm::float16) {
    const __half2 halves = *reinterpret_cast<const __half2*>(at);
    return {__low2float(halves) * code.scale_unit, __high2float(halves) * code.bias_unit};
  }
  const float2 floats = *reinterpret_cast<const float2*>(at);
  return {floats.x * code.scale_unit, floats.y * code.bias_unit};
}

__device__ inline RowTerms terms_of(const CodeView& code, const RowFactors& factors) {
  if (code.is_l2 != 0) return {factors.scale, -(factors.bias * factors.bias), factors.bias};
  return {factors.scale, factors.bias, factors.scale};
}

/// Asks for the line of an address, so that a later load finds it in the second-level cache.
__device__ inline void prefetch_line(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}
/// The same for bytes side by side, by a warp: its lanes' first 4 KiB.
__device__ inline void prefetch_span(const uint8_t* first, uint32_t bytes) {
  constexpr uint32_t kLine = 128;
  if (threadIdx.x % 32 * kLine < bytes) prefetch_line(first + threadIdx.x % 32 * kLine);
}

__device__ inline const uint8_t* block_sketch(const CodeView& code, int64_t block) {
  return code.sketches + block * code.sketch_bytes();
}
__device__ inline RowFactors load_row_factors(const CodeView& code, int64_t row) {
  const uint8_t* factors = block_sketch(code, row / kBlockRows) +
                           kBlockRows * 8U * static_cast<uint32_t>(code.sketch_words);
  return load_factors(code, factors + (row % kBlockRows) * code.factor_bytes());
}
__device__ inline RowTerms load_terms(const CodeView& code, int64_t row) {
  return terms_of(code, load_row_factors(code, row));
}

__device__ inline float similarity(const QueryConstants& query, const RowTerms& row, int32_t dot) {
  return query.base + query.weight * row.constant +
         row.scale * (query.dot_scale[0] * static_cast<float>(dot));
}
__device__ inline float similarity(const QueryConstants& query, const RowTerms& row, int32_t dot0,
                                   int32_t dot1) {
  return query.base + query.weight * row.constant +
         row.scale * (query.dot_scale[0] * static_cast<float>(dot0) +
                      query.dot_scale[1] * static_cast<float>(dot1));
}
__device__ inline float dot_bound(const QueryConstants& query, float slope, float margin,
                                  const RowTerms& row, int32_t dot) {
  return query.base + query.weight * row.constant +
         row.norm * (slope * static_cast<float>(dot) + margin);
}
__device__ inline float sketch_bound(const QueryConstants& query, const RowTerms& row,
                                     int distance) {
  return dot_bound(query, query.sketch_slope, query.sketch_margin, row,
                   query.sketch_weight - 2 * distance);
}
__device__ inline float sign_bound(const QueryConstants& query, const RowTerms& row, int distance,
                                   int32_t payload_dot) {
  const auto sketch = static_cast<float>(query.sketch_weight - 2 * distance);
  const auto payload = static_cast<float>(payload_dot);
  return query.base + query.weight * row.constant +
         row.norm * (query.signs_sketch_slope * sketch + query.signs_payload_slope * payload +
                     query.signs_margin);
}

/// sum_bound of the first of split stages; `less`: what the row's squared norm there takes off.
__device__ inline float first_stage_bound(const QueryConstants& query, const RowTerms& row,
                                          int32_t dot, int32_t other_sum, float less) {
  return query.base + query.weight * row.constant +
         row.norm *
             (query.first_slope * static_cast<float>(dot) +
              query.first_other_slope * static_cast<float>(other_sum) + query.first_margin - less);
}

/// Larger floats become larger numbers; −0 and 0 are equal. Only NaN, which is no row, becomes 0.
__device__ inline uint32_t ordered(float value) {
  if (isnan(value)) return 0;
  const uint32_t bits = __float_as_uint(value + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ inline float similarity_of(Ranked ranked) {
  const auto bits = static_cast<uint32_t>(ranked >> 32);
  if (bits == 0) return -INFINITY;
  return __uint_as_float((bits & 0x80000000U) != 0 ? bits & 0x7fffffffU : ~bits);
}
__device__ inline Ranked ranked_row(float similarity, int64_t row) {
  const uint32_t bits = ordered(similarity);
  return bits == 0 ? 0 : static_cast<Ranked>(bits) << 32 | ~static_cast<uint32_t>(row);
}
__device__ inline int64_t row_of(Ranked ranked) { return ~static_cast<uint32_t>(ranked); }

/// Puts a row into a query's list, or only counts it.
__device__ inline void append(const RankedLists& lists, int query, Ranked row) {
  const uint32_t place = atomicAdd(lists.counts + query, 1U);
  if (place < lists.capacity)
    lists.entries[static_cast<size_t>(query) * lists.capacity + place] = row;
}

}  // namespace polarquant::cuda
