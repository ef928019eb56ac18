// SPDX-License-Identifier: MIT
#include "src/scan/kernels/exact_dot.h"

#include "src/codec/dot.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/exact_dot.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

ExactDot exact_dot() { return dot_exact; }

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

ExactDot exact_dot() { return dot_in_registers; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(exact_dot);

ExactDot simd_exact_dot() { return HWY_DYNAMIC_DISPATCH(exact_dot)(); }

}  // namespace polarquant
#endif
