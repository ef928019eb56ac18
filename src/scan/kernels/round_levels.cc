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
  auto more = hn::Zero(d);
  int j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    found = hn::Max(found, hn::Abs(hn::LoadU(d, x + j)));
    more = hn::Max(more, hn::Abs(hn::LoadU(d, x + j + lanes)));
  }
  for (; j + lanes <= n; j += lanes) found = hn::Max(found, hn::Abs(hn::LoadU(d, x + j)));
  float result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(found, more)));
  for (; j < n; ++j) result = std::max(result, std::fabs(x[j]));
  return result;
}

HWY_ATTR void round_all(const float* x, int n, float scale, int8_t* levels) {
  const hn::CappedTag<float, 16> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto scales = hn::Set(df, scale);
  int j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto scaled = hn::Mul(hn::LoadU(df, x + j), scales);
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3
    // Highway's form takes care of numbers beyond integers too, and packs in three steps: twice the
    // time.
    _mm_storeu_si128(reinterpret_cast<__m128i*>(levels + j),
                     _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(scaled.raw)));
#else
    const hn::Rebind<int8_t, decltype(df)> dl;
    hn::StoreU(hn::DemoteTo(dl, hn::NearestInt(scaled)), dl, levels + j);
#endif
  }
  for (; j < n; ++j) levels[j] = static_cast<int8_t>(std::lrint(x[j] * scale));
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(largest);
HWY_EXPORT(round_all);

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

}  // namespace polarquant
#endif
