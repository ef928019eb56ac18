// SPDX-License-Identifier: MIT
#include "src/scan/kernels/dense/similarities.h"

#include "src/scan/kernels/dense/query_tile_dots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/dense/similarities.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;

HWY_ATTR void similarities(const SimilarityTerms& terms, const int32_t* dots, int64_t stride,
                           int64_t tiles, float* similarity) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto base = hn::Set(d, terms.base);
  const auto weight = hn::Set(d, terms.weight);
  const auto unit = hn::Set(d, terms.unit);
  for (int64_t tile = 0; tile < tiles; ++tile, dots += stride) {
    for (int64_t slot = 0; slot < kTileQueries; slot += lanes) {
      const int64_t i = tile * kTileQueries + slot;
      const auto dot = hn::ConvertTo(d, hn::LoadU(di, dots + slot));
      const auto constant = hn::Add(base, hn::Mul(weight, hn::Load(d, terms.constants + i)));
      const auto product = hn::Mul(unit, hn::Mul(hn::Load(d, terms.steps + i), dot));
      hn::StoreU(hn::Add(constant, product), d, similarity + i);
    }
  }
}

HWY_ATTR FloatRange range(const float* values, int64_t count) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto least = hn::Set(d, values[0]);
  auto most = least;
  int64_t i = 0;
  // Highway's Min and Max differ in what they make of NaN.
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    least = hn::IfThenElse(hn::Lt(value, least), value, least);
    most = hn::IfThenElse(hn::Gt(value, most), value, most);
  }
  alignas(64) float lows[16];
  alignas(64) float highs[16];
  hn::Store(least, d, lows);
  hn::Store(most, d, highs);
  FloatRange found = {lows[0], highs[0]};
  const auto take = [&found](float low, float high) {
    found.least = low < found.least ? low : found.least;
    found.most = high > found.most ? high : found.most;
  };
  for (int64_t lane = 1; lane < lanes; ++lane) take(lows[lane], highs[lane]);
  for (; i < count; ++i) take(values[i], values[i]);
  return found;
}

// Most are below, many side by side.
HWY_ATTR void not_below(float least, const float* values, int64_t count,
                        std::vector<int64_t>* found) {
  const Floats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kTogether = 64;
  const auto bar = hn::Set(d, least);
  const auto take = [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      if (!(values[i] < least)) found->push_back(i);
  };
  int64_t first = 0;
  for (; first + kTogether <= count; first += kTogether) {
    auto all_below = hn::Lt(hn::LoadU(d, values + first), bar);
    for (int64_t i = first + lanes; i < first + kTogether; i += lanes)
      all_below = hn::And(all_below, hn::Lt(hn::LoadU(d, values + i), bar));
    if (hn::AllTrue(d, all_below)) continue;
    for (int64_t i = first; i < first + kTogether; i += lanes) {
      if (!hn::AllTrue(d, hn::Lt(hn::LoadU(d, values + i), bar))) take(i, i + lanes);
    }
  }
  take(first, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(similarities);
HWY_EXPORT(range);
HWY_EXPORT(not_below);

void similarities_of_dots(const SimilarityTerms& terms, const int32_t* dots, int64_t stride,
                          int64_t tiles, float* similarity) {
  HWY_DYNAMIC_DISPATCH(similarities)(terms, dots, stride, tiles, similarity);
}

FloatRange range_of_floats(const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(range)(values, count);
}

void find_not_below(float least, const float* values, int64_t count, std::vector<int64_t>* found) {
  found->clear();
  HWY_DYNAMIC_DISPATCH(not_below)(least, values, count, found);
}

}  // namespace polarquant
#endif
