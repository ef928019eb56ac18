// SPDX-License-Identifier: MIT
#include "src/scan/kernels/round_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/round_levels.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR float largest(const float* x, int n) {
  const hn::CappedTag<float, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto found = hn::Zero(d);
  int j = 0;
  for (; j + lanes <= n; j += lanes) found = hn::Max(found, hn::Abs(hn::LoadU(d, x + j)));
  float result = hn::GetLane(hn::MaxOfLanes(d, found));
  for (; j < n; ++j) result = std::max(result, std::fabs(x[j]));
  return result;
}

HWY_ATTR void round_all(const float* x, int n, float scale, int8_t* levels) {
  const hn::CappedTag<float, 16> df;
  const hn::Rebind<int8_t, decltype(df)> dl;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto scales = hn::Set(df, scale);
  int j = 0;
  for (; j + lanes <= n; j += lanes) {
    hn::StoreU(hn::DemoteTo(dl, hn::NearestInt(hn::Mul(hn::LoadU(df, x + j), scales))), dl,
               levels + j);
  }
  for (; j < n; ++j) levels[j] = static_cast<int8_t>(std::lrint(x[j] * scale));
}

template <class D>
HWY_ATTR HWY_INLINE uint64_t bits_of(D d, hn::Mask<D> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  return hn::Lanes(d) > 8 ? bytes[0] | uint64_t{bytes[1]} << 8 : bytes[0];
}

HWY_ATTR SignBits weigh_all(const float* x, int n, float heavy_from, float* weights) {
  const hn::CappedTag<float, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto from = hn::Set(d, heavy_from);
  const auto light = hn::Set(d, 1.0F);
  const auto three = hn::Set(d, 3.0F);
  SignBits bits;
  int j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto value = hn::LoadU(d, x + j);
    const auto is_heavy = hn::Gt(hn::Abs(value), from);
    hn::StoreU(hn::CopySignToAbs(hn::IfThenElse(is_heavy, three, light), value), d, weights + j);
    bits.negative |= bits_of(d, hn::Lt(value, hn::Zero(d))) << j;
    bits.heavy |= bits_of(d, is_heavy) << j;
  }
  for (; j < n; ++j) {
    const bool is_heavy = std::fabs(x[j]) > heavy_from;
    weights[j] = std::copysign(is_heavy ? 3.0F : 1.0F, x[j]);
    bits.negative |= static_cast<uint64_t>(x[j] < 0) << j;
    bits.heavy |= static_cast<uint64_t>(is_heavy) << j;
  }
  return bits;
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(largest);
HWY_EXPORT(round_all);
HWY_EXPORT(weigh_all);

float largest_magnitude(const float* x, int n) { return HWY_DYNAMIC_DISPATCH(largest)(x, n); }
void round_levels(const float* x, int n, float scale, int8_t* levels) {
  HWY_DYNAMIC_DISPATCH(round_all)(x, n, scale, levels);
}
float round_to_step(const float* x, int n, int8_t* levels, bool negate) {
  constexpr float kMaxLevel = 127;
  const float most = largest_magnitude(x, n);
  const float to_levels = kMaxLevel / most;
  if (!(to_levels <= std::numeric_limits<float>::max())) {
    std::fill_n(levels, n, int8_t{0});
    return 0;
  }
  round_levels(x, n, negate ? -to_levels : to_levels, levels);
  return most / kMaxLevel;
}
SignBits weigh_signs(const float* x, int n, float heavy_from, float* weights) {
  return HWY_DYNAMIC_DISPATCH(weigh_all)(x, n, heavy_from, weights);
}

}  // namespace polarquant
#endif
