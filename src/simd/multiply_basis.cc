// SPDX-License-Identifier: MIT
// Sums of 16-bit integers, which are the same in any order: several rows at a time, so that
// additions do not wait for one another, and several vectors, so that a row is read once for them.
#include "src/simd/multiply_basis.h"

#include <algorithm>
#include <cstring>

#include "src/codec/rotation.h"
#include "src/core/aligned_buffer.h"
#include "src/simd/round_to_int8.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/multiply_basis.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/dot_bytes-inl.h"
#include "src/simd/four_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if POLAR_SIMD_SCALAR

BasisProducts basis_products() {
  const RotationKernels plain;
  return {plain.multiply, plain.multiply_transpose};
}

#else

using Shorts = hn::CappedTag<int16_t, 32>;
using Sums = hn::RepartitionToWide<Shorts>;
constexpr int kShorts = static_cast<int>(hn::MaxLanes(Shorts()));
/// Rows whose lanes are summed together.
constexpr int kFour = 4;

/// The sums of four registers over their lanes.
HWY_ATTR HWY_INLINE void sum_four(const hn::Vec<Sums> (&sums)[kFour], int32_t* found) {
#if POLAR_SIMD_VNNI || (POLAR_SIMD_AVX2 && !POLAR_SIMD_AVX512)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(found),
                   sum_each(sums[0].raw, sums[1].raw, sums[2].raw, sums[3].raw));
#else
  for (int i = 0; i < kFour; ++i) found[i] = hn::GetLane(hn::SumOfLanes(Sums(), sums[i]));
#endif
}

/// The last values of a row, which fill no whole register, then 0. (A loop over them would not do:
/// GCC makes it an instruction of AVX-VNNI, which not every CPU with AVX3_DL has.)
HWY_ATTR HWY_INLINE hn::Vec<Shorts> load_tail(const int16_t* tail, int count) {
  alignas(64) int16_t padded[kShorts] = {};
  std::memcpy(padded, tail, static_cast<size_t>(count) * sizeof *tail);
  return hn::Load(Shorts(), padded);
}

/// y[vector·dim + row] of `count` rows, four at most, for each of the vectors, whose values mean
/// `units`. One vector alone waits for the rows: the next four are fetched, in the order of memory.
template <int kVectors>
HWY_ATTR HWY_INLINE void multiply_four(const int16_t* rows, int count, int dim,
                                       const int16_t* int16_values, const float* units, float* y) {
  const Shorts d;
  const Sums d32;
  const auto stride = static_cast<size_t>(dim);
  const int tail = dim % kShorts;
  const int whole = dim - tail;
  const int16_t* row_at[kFour];
  for (int row = 0; row < kFour; ++row)
    row_at[row] = rows + static_cast<size_t>(std::min(row, count - 1)) * stride;
  hn::Vec<Sums> sums[kVectors][kFour];
  hn::Vec<Sums> more[kVectors][kFour];  // for targets that add in two places
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 4
    for (int row = 0; row < kFour; ++row) sums[v][row] = more[v][row] = hn::Zero(d32);
  const auto add = [&](int v, int row, hn::Vec<Shorts> row_values,
                       hn::Vec<Shorts> values) HWY_ATTR {
#if POLAR_SIMD_VNNI
    sums[v][row] = hn::Vec<Sums>{dot_shorts(sums[v][row].raw, row_values.raw, values.raw)};
#else
    sums[v][row] =
        hn::ReorderWidenMulAccumulate(d32, row_values, values, sums[v][row], more[v][row]);
#endif
  };
  for (int i = 0; i < whole; i += kShorts) {
    hn::Vec<Shorts> values[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      values[v] = hn::LoadU(d, int16_values + static_cast<size_t>(v) * stride + i);
#pragma GCC unroll 4
    for (int row = 0; row < kFour; ++row) {
      const auto row_values = hn::LoadU(d, row_at[row] + i);
      if constexpr (kVectors == 1)
        __builtin_prefetch(rows + kFour * stride + kFour * static_cast<size_t>(i) + row * kShorts);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) add(v, row, row_values, values[v]);
    }
  }
  if (tail > 0) {
#pragma GCC unroll 4
    for (int row = 0; row < kFour; ++row) {
      const auto row_values = load_tail(row_at[row] + whole, tail);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        add(v, row, row_values,
            load_tail(int16_values + static_cast<size_t>(v) * stride + whole, tail));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
    for (int row = 0; row < kFour; ++row) sums[v][row] = hn::Add(sums[v][row], more[v][row]);
    int32_t found[kFour];
    sum_four(sums[v], found);
    for (int row = 0; row < count; ++row) {
      y[static_cast<size_t>(v) * stride + static_cast<size_t>(row)] =
          units[v] * static_cast<float>(found[row]);
    }
  }
}

template <int kVectors>
HWY_ATTR void multiply_vectors(const int16_t* rows, int dim, int wanted, const float* x,
                               int16_t* int16_values, float* y) {
  const auto stride = static_cast<size_t>(dim);
  float units[kVectors];
  for (size_t v = 0; v < kVectors; ++v)
    units[v] =
        round_to_step(x + v * stride, dim, most_basis_value(dim), int16_values + v * stride) /
        kBasisOne;
  for (int row = 0; row < wanted; row += kFour) {
    multiply_four<kVectors>(rows + static_cast<size_t>(row) * stride, std::min(kFour, wanted - row),
                            dim, int16_values, units, y + row);
  }
}

// As many sums as registers allow: 16 of AVX-512's 32, else 8 of 16, where NEON's take two each.
HWY_ATTR void multiply(const int16_t* rows, int dim, int wanted, int64_t count, const float* x,
                       float* y) {
  constexpr int kVectors = kShorts == 32 ? 4 : 2;
  AlignedVector<int16_t> int16_values(
      static_cast<size_t>(std::min<int64_t>(count, kVectors) * dim));
  int64_t n = 0;
  for (; n + kVectors <= count; n += kVectors)
    multiply_vectors<kVectors>(rows, dim, wanted, x + n * dim, int16_values.data(), y + n * dim);
  for (; n < count; ++n)
    multiply_vectors<1>(rows, dim, wanted, x + n * dim, int16_values.data(), y + n * dim);
}

HWY_ATTR void multiply_transpose(const int16_t* rows, int dim, const float* x, float* y) {
  constexpr int kTogether = 8;
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<int16_t, decltype(d)> ds;
  const hn::RebindToSigned<decltype(d)> di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  std::fill_n(y, dim, 0.0F);
  for (int first = 0; first < dim; first += kTogether) {
    const int count = std::min(kTogether, dim - first);
    const int16_t* from = rows + static_cast<size_t>(first) * static_cast<size_t>(dim);
    float factors[kTogether];
    for (int row = 0; row < count; ++row) factors[row] = x[first + row] / kBasisOne;
    int j = 0;
    for (; j + lanes <= dim; j += lanes) {
      auto sum = hn::LoadU(d, y + j);
      for (int row = 0; row < count; ++row) {
        const int16_t* at = from + static_cast<size_t>(row) * static_cast<size_t>(dim) + j;
        const auto row_values = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(ds, at)));
        sum = hn::Add(sum, hn::Mul(hn::Set(d, factors[row]), row_values));
      }
      hn::StoreU(sum, d, y + j);
    }
    for (; j < dim; ++j) {
      for (int row = 0; row < count; ++row)
        y[j] += factors[row] *
                static_cast<float>(from[static_cast<size_t>(row) * static_cast<size_t>(dim) + j]);
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
