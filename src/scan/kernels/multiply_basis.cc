// SPDX-License-Identifier: MIT
// Several rows at a time, so that additions do not wait for one another; each row's sums are those
// of the plain code, in its order.
#include "src/scan/kernels/multiply_basis.h"

#include <algorithm>

#include "src/codec/rotation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/multiply_basis.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

BasisProducts basis_products() {
  const RotationKernels plain;
  return {plain.multiply, plain.multiply_transpose};
}

#else

constexpr int kPartialSums = 16;  // dot_float's
using Floats = hn::CappedTag<float, kPartialSums>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kParts = kPartialSums / kLanes;
/// Eight sums are under way.
constexpr int kRowsTogether = 8 / kParts;

template <int kRows>
HWY_ATTR HWY_INLINE void multiply_rows(const float* rows, int dim, const float* x, float* y) {
  const Floats d;
  const int whole = dim - dim % kPartialSums;
  hn::Vec<Floats> sums[kRows][kParts];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part) sums[row][part] = hn::Zero(d);
  for (int i = 0; i < whole; i += kPartialSums) {
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part) {
      const auto values = hn::LoadU(d, x + i + part * kLanes);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const float* at = rows + static_cast<size_t>(row) * static_cast<size_t>(dim) + i;
        sums[row][part] =
            hn::Add(sums[row][part], hn::Mul(hn::LoadU(d, at + part * kLanes), values));
      }
    }
  }
  for (int row = 0; row < kRows; ++row) {
    alignas(64) float all[kPartialSums];
    for (int part = 0; part < kParts; ++part) hn::Store(sums[row][part], d, all + part * kLanes);
    const float* at = rows + static_cast<size_t>(row) * static_cast<size_t>(dim);
    for (int i = whole; i < dim; ++i) all[i - whole] += at[i] * x[i];
    for (int width = kPartialSums / 2; width >= 1; width /= 2)
      for (int i = 0; i < width; ++i) all[i] += all[i + width];
    y[row] = all[0];
  }
}

HWY_ATTR void multiply(const float* rows, int dim, const float* x, float* y) {
  int row = 0;
  for (; row + kRowsTogether <= dim; row += kRowsTogether)
    multiply_rows<kRowsTogether>(rows + static_cast<size_t>(row) * static_cast<size_t>(dim), dim, x,
                                 y + row);
  for (; row < dim; ++row)
    multiply_rows<1>(rows + static_cast<size_t>(row) * static_cast<size_t>(dim), dim, x, y + row);
}

HWY_ATTR void multiply_transpose(const float* rows, int dim, const float* x, float* y) {
  constexpr int kTogether = 8;
  const Floats d;
  std::fill_n(y, dim, 0.0F);
  for (int first = 0; first < dim; first += kTogether) {
    const int count = std::min(kTogether, dim - first);
    const float* from = rows + static_cast<size_t>(first) * static_cast<size_t>(dim);
    int j = 0;
    for (; j + kLanes <= dim; j += kLanes) {
      auto sum = hn::LoadU(d, y + j);
      for (int row = 0; row < count; ++row) {
        const float* at = from + static_cast<size_t>(row) * static_cast<size_t>(dim) + j;
        sum = hn::Add(sum, hn::Mul(hn::Set(d, x[first + row]), hn::LoadU(d, at)));
      }
      hn::StoreU(sum, d, y + j);
    }
    for (; j < dim; ++j) {
      for (int row = 0; row < count; ++row)
        y[j] += x[first + row] * from[static_cast<size_t>(row) * static_cast<size_t>(dim) + j];
    }
  }
}

BasisProducts basis_products() { return {multiply, multiply_transpose}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(basis_products);

BasisProducts simd_basis_products() { return HWY_DYNAMIC_DISPATCH(basis_products)(); }

}  // namespace polarquant
#endif
