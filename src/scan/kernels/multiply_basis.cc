// SPDX-License-Identifier: MIT
// Several sums at a time, so that additions do not wait for one another, and several vectors, so
// that a row is read once for them; each sum is that of the plain code, in its order.
#include "src/scan/kernels/multiply_basis.h"

#include <algorithm>

#include "src/codec/float16.h"
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
using Halves = hn::Rebind<hwy::float16_t, Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));
constexpr int kParts = kPartialSums / kLanes;

HWY_ATTR HWY_INLINE hn::Vec<Floats> load_row(const uint16_t* row) {
  return hn::PromoteTo(Floats(), hn::LoadU(Halves(), reinterpret_cast<const hwy::float16_t*>(row)));
}

/// dot_float's tree over partial sums: halves are added to each other.
HWY_ATTR HWY_INLINE float sum_of(const float (&parts)[kPartialSums]) {
  const hn::CappedTag<float, 4> d;
  alignas(16) float four[4];
  const auto low = hn::Add(hn::Load(d, parts), hn::Load(d, parts + 8));
  const auto high = hn::Add(hn::Load(d, parts + 4), hn::Load(d, parts + 12));
  hn::Store(hn::Add(low, high), d, four);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// y[vector·dim + row] of kRows × kVectors sums at a time.
template <int kRows, int kVectors>
HWY_ATTR HWY_INLINE void multiply_tile(const uint16_t* rows, int dim, const float* x, float* y) {
  const Floats d;
  const auto stride = static_cast<size_t>(dim);
  const int whole = dim - dim % kPartialSums;
  hn::Vec<Floats> sums[kRows][kVectors][kParts];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) sums[row][v][part] = hn::Zero(d);
  for (int i = 0; i < whole; i += kPartialSums) {
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part) {
      const int at = i + part * kLanes;
      hn::Vec<Floats> values[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        values[v] = hn::LoadU(d, x + static_cast<size_t>(v) * stride + at);
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        const auto of_row = load_row(rows + static_cast<size_t>(row) * stride + at);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
          sums[row][v][part] = hn::Add(sums[row][v][part], hn::Mul(of_row, values[v]));
      }
    }
  }
  // Unrolled too: sums that a loop indexes would not stay in registers.
  alignas(64) float all[kRows][kVectors][kPartialSums];
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part)
        hn::Store(sums[row][v][part], d, all[row][v] + part * kLanes);
  for (int row = 0; row < kRows; ++row) {
    const uint16_t* halves = rows + static_cast<size_t>(row) * stride;
    for (int v = 0; v < kVectors; ++v) {
      const float* vector = x + static_cast<size_t>(v) * stride;
      for (int i = whole; i < dim; ++i)
        all[row][v][i - whole] += half_to_float(halves[i]) * vector[i];
      y[static_cast<size_t>(v) * stride + static_cast<size_t>(row)] = sum_of(all[row][v]);
    }
  }
}

/// All rows, kRows at a time.
template <int kRows, int kVectors>
HWY_ATTR void multiply_all(const uint16_t* rows, int dim, const float* x, float* y) {
  const auto stride = static_cast<size_t>(dim);
  int row = 0;
  for (; row + kRows <= dim; row += kRows)
    multiply_tile<kRows, kVectors>(rows + static_cast<size_t>(row) * stride, dim, x, y + row);
  for (; row < dim; ++row)
    multiply_tile<1, kVectors>(rows + static_cast<size_t>(row) * stride, dim, x, y + row);
}

// As many sums as registers allow: 16 of 32 of AVX-512 and NEON's four to a sum, else 8 of 16.
HWY_ATTR void multiply(const uint16_t* rows, int dim, int64_t count, const float* x, float* y) {
  constexpr int kVectors = kParts == 1 ? 4 : 2;
  constexpr int kRows = kParts == 1 ? 4 : kParts == 2 ? 2 : 1;
  int64_t n = 0;
  for (; n + kVectors <= count; n += kVectors)
    multiply_all<kRows, kVectors>(rows, dim, x + n * dim, y + n * dim);
  for (; n < count; ++n) multiply_all<8 / kParts, 1>(rows, dim, x + n * dim, y + n * dim);
}

HWY_ATTR void multiply_transpose(const uint16_t* rows, int dim, const float* x, float* y) {
  constexpr int kTogether = 8;
  const Floats d;
  std::fill_n(y, dim, 0.0F);
  for (int first = 0; first < dim; first += kTogether) {
    const int count = std::min(kTogether, dim - first);
    const uint16_t* from = rows + static_cast<size_t>(first) * static_cast<size_t>(dim);
    int j = 0;
    for (; j + kLanes <= dim; j += kLanes) {
      auto sum = hn::LoadU(d, y + j);
      for (int row = 0; row < count; ++row) {
        const uint16_t* at = from + static_cast<size_t>(row) * static_cast<size_t>(dim) + j;
        sum = hn::Add(sum, hn::Mul(hn::Set(d, x[first + row]), load_row(at)));
      }
      hn::StoreU(sum, d, y + j);
    }
    for (; j < dim; ++j) {
      for (int row = 0; row < count; ++row)
        y[j] += x[first + row] *
                half_to_float(from[static_cast<size_t>(row) * static_cast<size_t>(dim) + j]);
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
