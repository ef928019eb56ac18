// SPDX-License-Identifier: MIT
#include "src/scan/kernels/load_terms.h"

#include <algorithm>
#include <cstring>

#include "src/codec/float16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/load_terms.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// `room` stored numbers times a power of two.
HWY_ATTR void read_factors(bool half, const uint8_t* stored, int room, float unit, float* values) {
  if (!half) {
    std::memcpy(values, stored, static_cast<size_t>(room) * sizeof(float));
    for (int row = 0; row < room; ++row) values[row] *= unit;
    return;
  }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
  // Every CPU with AVX2 converts float16 in hardware, exactly like the plain code.
  for (int row = 0; row < room; row += kGroupRows) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(stored + 2 * row));
    _mm256_storeu_ps(values + row, _mm256_mul_ps(_mm256_cvtph_ps(halves), _mm256_set1_ps(unit)));
  }
#else
  for (int row = 0; row < room; ++row) {
    uint16_t value;
    std::memcpy(&value, stored + 2 * row, sizeof value);
    values[row] = half_to_float(value) * unit;
  }
#endif
}

HWY_ATTR float load_block(const ScanCodec& codec, const uint8_t* block, int room, float* scale, float* constant,
                float* norm) {
  const BlockLayout& layout = codec.layout();
  const FactorFormat& format = codec.factor_format();
  read_factors(format.half, block + layout.scales_offset(room), room, format.scale_unit, scale);
  read_factors(format.half, block + layout.biases_offset(room), room, format.bias_unit, constant);
  if (codec.metric() == Metric::l2) {
    for (int row = 0; row < room; ++row) {
      norm[row] = constant[row];
      constant[row] = -(norm[row] * norm[row]);
    }
  } else {
    std::copy_n(scale, room, norm);
  }
  for (float* terms : {scale, constant, norm}) std::fill(terms + room, terms + kBlockRows, 0.0F);

  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<float, 16> d;
  auto largest = hn::Zero(d);
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    largest = hn::Max(largest, hn::Abs(hn::Load(d, constant + row)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(load_block);

float load_block_terms(const ScanCodec& codec, const uint8_t* block, int room, float* scale,
                      float* constant, float* norm) {
  return HWY_DYNAMIC_DISPATCH(load_block)(codec, block, room, scale, constant, norm);
}

}  // namespace polarquant
#endif
