// SPDX-License-Identifier: MIT
#include "src/scan/kernels/bounds/load_terms.h"

#include <algorithm>
#include <cstring>

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

HWY_ATTR void load_terms_of_rows(const ScanCodec& codec, const uint8_t* factors, int capacity,
                                 float* scale, float* constant, float* bias) {
  const FactorFormat& format = codec.factor_format();
  if (capacity < kBlockRows) {
    for (float* terms : {scale, bias}) std::fill(terms + capacity, terms + kBlockRows, 0.0F);
  }
  const bool l2 = codec.metric() == Metric::l2;
  if (format.has_centroid) {
    std::fill(constant + capacity, constant + kBlockRows, 0.0F);
    using Tag = hn::CappedTag<float, kGroupRows>;
    const Tag d;
    for (size_t row = 0; row < static_cast<size_t>(capacity); row += hn::Lanes(d)) {
      const CentroidTerms<Tag> terms = load_centroid_terms(d, codec, factors, row);
      hn::Store(terms.scale, d, scale + row);
      hn::Store(terms.constant, d, constant + row);
      hn::Store(l2 ? hn::Neg(terms.constant) : terms.constant, d, bias + row);
    }
    return;
  }
  widen_factors(format, factors, capacity, scale, bias);
  const hn::CappedTag<float, 16> d;
  const auto scale_unit = hn::Set(d, format.scale_unit);
  const auto bias_unit = hn::Set(d, format.bias_unit);
  for (size_t row = 0; row < kBlockRows; row += hn::Lanes(d)) {
    hn::Store(hn::Mul(hn::Load(d, scale + row), scale_unit), d, scale + row);
    const auto value = hn::Mul(hn::Load(d, bias + row), bias_unit);
    hn::Store(value, d, bias + row);
    hn::Store(l2 ? hn::Neg(hn::Mul(value, value)) : value, d, constant + row);
  }
}

/// Whole registers are read, up to 64 bytes from the last rows on.
HWY_ATTR void load_centroids_of_rows(const ScanCodec& codec, const uint8_t* factors, int capacity,
                                     int32_t* centroid) {
  const hn::CappedTag<uint32_t, 2 * kGroupRows> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t bytes = codec.layout().factor_bytes();
  for (size_t row = 0; row < static_cast<size_t>(capacity); row += hn::Lanes(d)) {
    const auto words = load_centroid_words(d, codec.factor_format(), factors + bytes * row);
    hn::Store(centroids_of(d, codec, words), di, centroid + row);
  }
  std::fill(centroid + capacity, centroid + kBlockRows, 0);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(load_terms_of_rows);
HWY_EXPORT(load_centroids_of_rows);

void load_terms_of(const ScanCodec& codec, const uint8_t* factors, int capacity, float* scale,
                   float* constant, float* bias) {
  HWY_DYNAMIC_DISPATCH(load_terms_of_rows)(codec, factors, capacity, scale, constant, bias);
}

void load_block_terms(const ScanCodec& codec, const uint8_t* block, int capacity, float* scale,
                      float* constant, float* bias) {
  load_terms_of(codec, block + codec.layout().factors_offset(capacity), capacity, scale, constant,
                bias);
}

void load_centroids_of(const ScanCodec& codec, const uint8_t* factors, int capacity,
                       int32_t* centroid) {
  HWY_DYNAMIC_DISPATCH(load_centroids_of_rows)(codec, factors, capacity, centroid);
}

void gather_terms(const ScanCodec& codec, const ScanTile& tile, const uint32_t* rows, int count,
                  GatheredTerms* terms) {
  alignas(64) uint8_t factors[kBlockRows * 2 * sizeof(float) + sizeof(uint64_t)];
  const BlockLayout& layout = codec.layout();
  const size_t bytes = layout.factor_bytes();
  uint8_t* stored = factors;
  // As many bytes for every format: what is too much is overwritten.
  for (int i = 0; i < count; ++i, stored += bytes)
    std::memcpy(stored, layout.row_factors(place_of(tile, rows[i])), sizeof(uint64_t));
  const int capacity = BlockLayout::capacity(count);
  std::fill_n(stored, static_cast<size_t>(capacity - count) * bytes, uint8_t{0});
  load_terms_of(codec, factors, capacity, terms->scale, terms->constant, terms->bias);
  if (codec.has_centroids()) load_centroids_of(codec, factors, capacity, terms->centroid);
}

void load_centroids(const ScanCodec& codec, const uint8_t* block, int capacity, int32_t* centroid) {
  load_centroids_of(codec, block + codec.layout().factors_offset(capacity), capacity, centroid);
}

}  // namespace polarquant
#endif
