// SPDX-License-Identifier: MIT
#include "src/scan/kernels/bounds/load_terms.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/bounds/load_terms.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/bounds/block_factors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void load_block(const ScanCodec& codec, const uint8_t* block, int capacity, float* scale,
                         float* constant, float* bias) {
  const BlockLayout& layout = codec.layout();
  const FactorFormat& format = codec.factor_format();
  if (capacity < kBlockRows) {
    for (float* terms : {scale, bias}) std::fill(terms + capacity, terms + kBlockRows, 0.0F);
  }
  const bool l2 = codec.metric() == Metric::l2;
  widen_factors(format, block + layout.factors_offset(capacity), capacity, scale, bias);
  const hn::CappedTag<float, 16> d;
  const auto scale_unit = hn::Set(d, format.scale_unit);
  const auto bias_unit = hn::Set(d, format.bias_unit);
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    hn::Store(hn::Mul(hn::Load(d, scale + row), scale_unit), d, scale + row);
    const auto value = hn::Mul(hn::Load(d, bias + row), bias_unit);
    hn::Store(value, d, bias + row);
    // About centroids b is n, a square, for L2.
    const auto square = format.has_centroid ? value : hn::Mul(value, value);
    hn::Store(l2 ? hn::Neg(square) : value, d, constant + row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(load_block);

void load_centroids(const ScanCodec& codec, const uint8_t* block, int capacity, int32_t* centroid) {
  const BlockLayout& layout = codec.layout();
  const uint8_t* stored = block + layout.factors_offset(capacity);
  const int last = codec.centroid_count() - 1;
  std::fill(centroid + capacity, centroid + kBlockRows, 0);
  for (int row = 0; row < capacity; ++row, stored += layout.factor_bytes())
    centroid[row] = std::min(stored[0] | stored[1] << 8, last);
}

void load_block_terms(const ScanCodec& codec, const uint8_t* block, int capacity, float* scale,
                      float* constant, float* bias) {
  HWY_DYNAMIC_DISPATCH(load_block)(codec, block, capacity, scale, constant, bias);
}

}  // namespace polarquant
#endif
