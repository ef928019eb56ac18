// SPDX-License-Identifier: MIT
#include "src/scan/kernels/decode/squared_norms.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "src/scan/layout/block_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/decode/squared_norms.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"
#include "src/simd/dot_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VNNI

HWY_ATTR int32_t squared_norm_of_row(const int8_t* values, int padded_dim) {
  __m512i sums = _mm512_setzero_si512();
  for (int position = 0; position < padded_dim; position += kSegmentDims) {
    const __m512i magnitudes = _mm512_abs_epi8(_mm512_load_si512(values + position));
    sums = dot_bytes(sums, magnitudes, magnitudes);
  }
  return _mm512_reduce_add_epi32(sums);
}

#else

HWY_ATTR int32_t squared_norm_of_row(const int8_t* values, int padded_dim) {
  return dot_row(values, values, padded_dim);
}

#endif

HWY_ATTR void squared_norms_of_rows(const int8_t* values, int padded_dim, int count, size_t stride,
                                    float* squared_norms) {
  for (int i = 0; i < count; ++i, values += stride)
    squared_norms[i] = static_cast<float>(squared_norm_of_row(values, padded_dim));
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(squared_norms_of_rows);

void int8_squared_norms(const int8_t* values, int padded_dim, int count, size_t stride,
                        float* squared_norms) {
  HWY_DYNAMIC_DISPATCH(squared_norms_of_rows)(values, padded_dim, count, stride, squared_norms);
}

float longest_row(const int8_t* values, int padded_dim, int count) {
  float squared_norms[kBlockRows] = {};
  int8_squared_norms(values, padded_dim, count, static_cast<size_t>(padded_dim), squared_norms);
  return std::sqrt(*std::max_element(std::begin(squared_norms), std::end(squared_norms))) *
         (1 + 4 * std::numeric_limits<float>::epsilon());
}

}  // namespace polarquant
#endif
