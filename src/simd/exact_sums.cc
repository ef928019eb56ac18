// SPDX-License-Identifier: MIT
#include "src/simd/exact_sums.h"

#include <algorithm>

#include "src/codec/dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/exact_sums.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_SCALAR

ExactSums exact_sums() { return {dot_exact, dot_float, add_multiple, subtract_multiple}; }

#else

template <class D>
HWY_ATTR HWY_INLINE hn::Vec<D> load_floats(D d, const float* x) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
  }
}

#if POLAR_SIMD_AVX512

/// The plain code's tree, which halves a register.
HWY_ATTR HWY_INLINE float sum_of_16(__m512 sums) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(sums), _mm512_extractf32x8_ps(sums, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

HWY_ATTR float float_dot_in_registers(const float* a, const float* b, int n) {
  __m512 sums = _mm512_setzero_ps();
  int i = 0;
  for (; i + 16 <= n; i += 16)
    sums = _mm512_add_ps(sums, _mm512_mul_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
  if (i < n) {
    const auto lanes = static_cast<__mmask16>((1U << (n - i)) - 1);
    const __m512 product =
        _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, a + i), _mm512_maskz_loadu_ps(lanes, b + i));
    sums = _mm512_mask_add_ps(sums, lanes, sums, product);
  }
  return sum_of_16(sums);
}

#endif

/// The plain code's 16 partial sums, at most two registers of them at a time.
template <typename T>
HWY_ATTR HWY_INLINE T dot_in_registers(const float* a, const float* b, int n) {
  constexpr int kPartialSums = 16;
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int together = std::min(2 * lanes, kPartialSums);
  const int whole = n - n % kPartialSums;
  alignas(64) T sums[kPartialSums];
  for (int part = 0; part < kPartialSums; part += together) {
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    for (int i = part; i < whole; i += kPartialSums) {
      sum0 = hn::Add(sum0, hn::Mul(load_floats(d, a + i), load_floats(d, b + i)));
      if (together == lanes) continue;
      sum1 = hn::Add(sum1, hn::Mul(load_floats(d, a + i + lanes), load_floats(d, b + i + lanes)));
    }
    hn::Store(sum0, d, sums + part);
    if (together != lanes) hn::Store(sum1, d, sums + part + lanes);
  }
  for (int i = whole; i < n; ++i) sums[i - whole] += static_cast<T>(a[i]) * static_cast<T>(b[i]);
  for (int width = kPartialSums / 2; width >= 1; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

HWY_ATTR double exact_dot_in_registers(const float* a, const float* b, int n) {
  return dot_in_registers<double>(a, b, n);
}
#if !POLAR_SIMD_AVX512
HWY_ATTR float float_dot_in_registers(const float* a, const float* b, int n) {
  return dot_in_registers<float>(a, b, n);
}
#endif

HWY_ATTR void add_multiple_in_registers(double factor, const float* x, int n, double* sum) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto product = hn::Mul(factors, hn::PromoteTo(d, hn::LoadU(df, x + i)));
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), product), d, sum + i);
  }
  add_multiple(factor, x + i, n - i, sum + i);
}

HWY_ATTR void subtract_multiple_in_registers(const float* a, float factor, const float* b, int n,
                                             float* out) {
  const hn::CappedTag<float, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto product = hn::Mul(factors, hn::LoadU(d, b + i));
    hn::StoreU(hn::Sub(hn::LoadU(d, a + i), product), d, out + i);
  }
  subtract_multiple(a + i, factor, b + i, n - i, out + i);
}

ExactSums exact_sums() {
  return {exact_dot_in_registers, float_dot_in_registers, add_multiple_in_registers,
          subtract_multiple_in_registers};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(exact_sums);

ExactSums simd_exact_sums() { return HWY_DYNAMIC_DISPATCH(exact_sums)(); }

}  // namespace polarquant
#endif
