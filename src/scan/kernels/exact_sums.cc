// SPDX-License-Identifier: MIT
#include "src/scan/kernels/exact_sums.h"

#include "src/codec/dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/exact_sums.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

ExactSums exact_sums() { return {dot_exact, add_multiple}; }

#else

/// The plain code's 16 partial sums, two registers of them in one go.
HWY_ATTR double dot_in_registers(const float* a, const float* b, int n) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr int kPartialSums = 16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int whole = n - n % kPartialSums;
  alignas(64) double sums[kPartialSums];
  for (int part = 0; part < kPartialSums; part += 2 * lanes) {
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    for (int i = part; i < whole; i += kPartialSums) {
      const auto a0 = hn::PromoteTo(d, hn::LoadU(df, a + i));
      const auto b0 = hn::PromoteTo(d, hn::LoadU(df, b + i));
      const auto a1 = hn::PromoteTo(d, hn::LoadU(df, a + i + lanes));
      const auto b1 = hn::PromoteTo(d, hn::LoadU(df, b + i + lanes));
      sum0 = hn::Add(sum0, hn::Mul(a0, b0));
      sum1 = hn::Add(sum1, hn::Mul(a1, b1));
    }
    hn::Store(sum0, d, sums + part);
    hn::Store(sum1, d, sums + part + lanes);
  }
  for (int i = whole; i < n; ++i)
    sums[i - whole] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (int width = kPartialSums / 2; width >= 1; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

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

ExactSums exact_sums() { return {dot_in_registers, add_multiple_in_registers}; }

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
