// SPDX-License-Identifier: MIT
#include "src/simd/round_to_int8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/round_to_int8.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

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

template <typename Value>
HWY_ATTR HWY_INLINE void round_all(const float* x, int n, float scale, Value* values) {
  const hn::CappedTag<float, 16> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto scales = hn::Set(df, scale);
  int j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto scaled = hn::Mul(hn::LoadU(df, x + j), scales);
#if POLAR_SIMD_AVX512
    // Highway's form also handles numbers beyond integers, and packs bytes in three steps.
    const __m512i rounded = _mm512_cvtps_epi32(scaled.raw);
    if constexpr (sizeof(Value) == 1) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(values + j), _mm512_cvtsepi32_epi8(rounded));
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + j), _mm512_cvtsepi32_epi16(rounded));
    }
#else
    const hn::Rebind<Value, decltype(df)> dl;
    hn::StoreU(hn::DemoteTo(dl, hn::NearestInt(scaled)), dl, values + j);
#endif
  }
  for (; j < n; ++j) values[j] = static_cast<Value>(std::lrint(x[j] * scale));
}

HWY_ATTR void round_bytes(const float* x, int n, float scale, int8_t* values) {
  round_all(x, n, scale, values);
}
HWY_ATTR void round_shorts(const float* x, int n, float scale, int16_t* values) {
  round_all(x, n, scale, values);
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(largest);
HWY_EXPORT(round_bytes);
HWY_EXPORT(round_shorts);

float largest_magnitude(const float* x, int n) { return HWY_DYNAMIC_DISPATCH(largest)(x, n); }
void round_to_int8(const float* x, int n, float scale, int8_t* values) {
  HWY_DYNAMIC_DISPATCH(round_bytes)(x, n, scale, values);
}

namespace {

/// With `round`(scale); `sign`: 1, or −1 to negate.
template <typename Value, class Round>
float round_so(const float* x, int n, float largest_value, float sign, Value* values,
               const Round& round) {
  const float most = largest_magnitude(x, n);
  const float to_values = largest_value / most;
  if (!(to_values <= std::numeric_limits<float>::max())) {
    std::fill_n(values, n, Value{0});
    return 0;
  }
  round(sign * to_values);
  return most / largest_value;
}

}  // namespace

float round_to_step(const float* x, int n, int8_t* values, bool negate) {
  return round_so(x, n, 127, negate ? -1.0F : 1.0F, values,
                  [&](float scale) { round_to_int8(x, n, scale, values); });
}
float round_to_step(const float* x, int n, int largest_value, int8_t* values) {
  return round_so(x, n, static_cast<float>(largest_value), 1, values,
                  [&](float scale) { round_to_int8(x, n, scale, values); });
}
float round_to_step(const float* x, int n, int largest_value, int16_t* values) {
  return round_so(x, n, static_cast<float>(largest_value), 1, values, [&](float scale) {
    HWY_DYNAMIC_DISPATCH(round_shorts)(x, n, scale, values);
  });
}

}  // namespace polarquant
#endif
