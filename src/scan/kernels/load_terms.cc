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
namespace hn = hwy::HWY_NAMESPACE;

/// `room` stored numbers times a power of two.
HWY_ATTR void read_factors(bool half, const uint8_t* stored, int room, float unit, float* values) {
  if (!half) {
    std::memcpy(values, stored, static_cast<size_t>(room) * sizeof(float));
    for (int row = 0; row < room; ++row) values[row] *= unit;
    return;
  }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
  // Every CPU with AVX2 converts float16 in hardware, exactly like the plain code.
  const __m256 units = _mm256_set1_ps(unit);
  for (int row = 0; row < room; row += kGroupRows) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(stored + 2 * row));
    _mm256_store_ps(values + row, _mm256_mul_ps(_mm256_cvtph_ps(halves), units));
  }
#else
  for (int row = 0; row < room; ++row) {
    uint16_t value;
    std::memcpy(&value, stored + 2 * row, sizeof value);
    values[row] = half_to_float(value) * unit;
  }
#endif
}

HWY_ATTR void load_block(const ScanCodec& codec, const uint8_t* block, int room, float* scale,
                         float* constant, float* bias) {
  const BlockLayout& layout = codec.layout();
  const FactorFormat& format = codec.factor_format();
  if (room < kBlockRows) {
    for (float* terms : {scale, bias}) std::fill(terms + room, terms + kBlockRows, 0.0F);
  }
  read_factors(format.half, block + layout.scales_offset(room), room, format.scale_unit, scale);
  read_factors(format.half, block + layout.biases_offset(room), room, format.bias_unit, bias);
  const hn::CappedTag<float, 16> d;
  const bool l2 = codec.metric() == Metric::l2;
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    const auto stored = hn::Load(d, bias + row);
    const auto value = l2 ? hn::Neg(hn::Mul(stored, stored)) : stored;
    hn::Store(value, d, constant + row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(load_block);

void load_block_terms(const ScanCodec& codec, const uint8_t* block, int room, float* scale,
                      float* constant, float* bias) {
  HWY_DYNAMIC_DISPATCH(load_block)(codec, block, room, scale, constant, bias);
}

}  // namespace polarquant
#endif
