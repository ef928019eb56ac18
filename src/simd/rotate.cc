// SPDX-License-Identifier: MIT
// The plain code's float operations on each value, in the same order: additions and subtractions at
// distance 1, 2, 4, …, then one multiplication.
#include "src/simd/rotate.h"

#include <bit>
#include <cmath>

#include "src/codec/walsh_hadamard.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/rotate.cc"
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

RotationKernels rotation_kernels() { return {}; }
WalshHadamard walsh_hadamard_kernel() { return walsh_hadamard; }

#else

template <class V>
HWY_ATTR HWY_INLINE void cross(V& a, V& b) {
  const V sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

#if POLAR_SIMD_AVX2

/// A register with values that are 1, 2, 4 or 8 apart exchanged.
template <int kDistance, class D, class V>
HWY_ATTR HWY_INLINE V exchanged(D d, V v) {
  if constexpr (kDistance == 1) return hn::Shuffle2301(v);
  if constexpr (kDistance == 2) return hn::Shuffle1032(v);
  if constexpr (2 * kDistance == hn::MaxLanes(D())) return hn::ConcatLowerUpper(d, v, v);
  if constexpr (kDistance == 4) return hn::SwapAdjacentBlocks(v);
}

/// 1 for a value that its partner is added to, −1 for one that is subtracted from its partner.
struct Int8Signs {
  alignas(64) float factors[16];

  constexpr explicit Int8Signs(int distance) : factors() {
    for (int i = 0; i < 16; ++i) factors[i] = (i & distance) == 0 ? 1.0F : -1.0F;
  }
};

/// Combines values within a register: a fused multiplication by 1 or −1, which is exact, makes sums
/// and differences at once. Bringing even and odd values together from two registers is slower.
template <int kDistance, class D, class V>
HWY_ATTR HWY_INLINE void cross_value(D d, V& v) {
  static constexpr Int8Signs kSigns(kDistance);
  v = hn::MulAdd(v, hn::Load(d, kSigns.factors), exchanged<kDistance>(d, v));
}

/// Distances 1 to Lanes(d) of the 2·Lanes(d) values in two registers.
template <class D, class V>
HWY_ATTR HWY_INLINE void cross_inside(D d, V& a, V& b) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  for (V* v : {&a, &b}) {
    cross_value<1>(d, *v);
    cross_value<2>(d, *v);
    if constexpr (kLanes >= 8) cross_value<4>(d, *v);
    if constexpr (kLanes >= 16) cross_value<8>(d, *v);
  }
  cross(a, b);
}

#else

/// Distances 1 to Lanes(d) of the 2·Lanes(d) values in two registers. Each step brings partners
/// together as even and odd values, and puts its sums and differences where the next step can do
/// the same; after the last step the values are in order again.
template <class D, class V>
HWY_ATTR HWY_INLINE void cross_inside(D d, V& a, V& b) {
  const size_t lanes = hn::Lanes(d);
  for (size_t distance = 1; distance <= lanes; distance *= 2) {
    const V even = hn::ConcatEven(d, b, a);
    const V odd = hn::ConcatOdd(d, b, a);
    a = hn::Add(even, odd);
    b = hn::Sub(even, odd);
  }
}

#endif

/// Three steps over eight registers, `distance` values apart. kInside: the registers are
/// neighbours, and steps inside two of them stand for the first. kLast: the multiplication ends it.
template <bool kInside, bool kLast, class D>
HWY_ATTR HWY_INLINE void cross_eight(D d, float* x, size_t distance, float scale) {
  auto v0 = hn::LoadU(d, x);
  auto v1 = hn::LoadU(d, x + distance);
  auto v2 = hn::LoadU(d, x + 2 * distance);
  auto v3 = hn::LoadU(d, x + 3 * distance);
  auto v4 = hn::LoadU(d, x + 4 * distance);
  auto v5 = hn::LoadU(d, x + 5 * distance);
  auto v6 = hn::LoadU(d, x + 6 * distance);
  auto v7 = hn::LoadU(d, x + 7 * distance);
  if constexpr (kInside) {
    cross_inside(d, v0, v1);
    cross_inside(d, v2, v3);
    cross_inside(d, v4, v5);
    cross_inside(d, v6, v7);
  } else {
    cross(v0, v1);
    cross(v2, v3);
    cross(v4, v5);
    cross(v6, v7);
  }
  cross(v0, v2);
  cross(v1, v3);
  cross(v4, v6);
  cross(v5, v7);
  cross(v0, v4);
  cross(v1, v5);
  cross(v2, v6);
  cross(v3, v7);
  if constexpr (kLast) {
    const auto factor = hn::Set(d, scale);
    v0 = hn::Mul(v0, factor);
    v1 = hn::Mul(v1, factor);
    v2 = hn::Mul(v2, factor);
    v3 = hn::Mul(v3, factor);
    v4 = hn::Mul(v4, factor);
    v5 = hn::Mul(v5, factor);
    v6 = hn::Mul(v6, factor);
    v7 = hn::Mul(v7, factor);
  }
  hn::StoreU(v0, d, x);
  hn::StoreU(v1, d, x + distance);
  hn::StoreU(v2, d, x + 2 * distance);
  hn::StoreU(v3, d, x + 3 * distance);
  hn::StoreU(v4, d, x + 4 * distance);
  hn::StoreU(v5, d, x + 5 * distance);
  hn::StoreU(v6, d, x + 6 * distance);
  hn::StoreU(v7, d, x + 7 * distance);
}

/// One pass over all values: the steps at distance, … of kRadix runs.
template <int kRadix, bool kLast, class D>
HWY_ATTR void cross_pass(D d, float* x, size_t size, size_t distance, float scale) {
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  for (size_t start = 0; start < size; start += kRadix * distance) {
    for (size_t i = start; i < start + distance; i += lanes) {
      if constexpr (kRadix == 8) {
        cross_eight<false, kLast>(d, x + i, distance, scale);
      } else {
        auto v0 = hn::LoadU(d, x + i);
        auto v1 = hn::LoadU(d, x + i + distance);
        cross(v0, v1);
        if constexpr (kRadix == 4) {
          auto v2 = hn::LoadU(d, x + i + 2 * distance);
          auto v3 = hn::LoadU(d, x + i + 3 * distance);
          cross(v2, v3);
          cross(v0, v2);
          cross(v1, v3);
          if constexpr (kLast) v2 = hn::Mul(v2, factor);
          if constexpr (kLast) v3 = hn::Mul(v3, factor);
          hn::StoreU(v2, d, x + i + 2 * distance);
          hn::StoreU(v3, d, x + i + 3 * distance);
        }
        if constexpr (kLast) v0 = hn::Mul(v0, factor);
        if constexpr (kLast) v1 = hn::Mul(v1, factor);
        hn::StoreU(v0, d, x + i);
        hn::StoreU(v1, d, x + i + distance);
      }
    }
  }
}

/// walsh_hadamard for size ≥ 8·Lanes(d): the first steps in one pass, then three steps a pass.
template <class D>
HWY_ATTR void transform_with(D d, float* x, size_t size, float scale) {
  const size_t lanes = hn::Lanes(d);
  size_t distance = 8 * lanes;
  if (distance == size) return cross_eight<true, true>(d, x, lanes, scale);
  for (size_t i = 0; i < size; i += distance) cross_eight<true, false>(d, x + i, lanes, scale);
  for (; size > 8 * distance; distance *= 8) cross_pass<8, false>(d, x, size, distance, scale);
  if (size == 8 * distance) {
    cross_pass<8, true>(d, x, size, distance, scale);
  } else if (size == 4 * distance) {
    cross_pass<4, true>(d, x, size, distance, scale);
  } else {
    cross_pass<2, true>(d, x, size, distance, scale);
  }
}

HWY_ATTR void transform(float* x, int size) {
  const hn::CappedTag<float, 16> d16;
  const hn::CappedTag<float, 8> d8;
  const hn::CappedTag<float, 4> d4;
  const auto count = static_cast<size_t>(size);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
  if (count >= 8 * hn::Lanes(d16)) return transform_with(d16, x, count, scale);
  if (count >= 8 * hn::Lanes(d8)) return transform_with(d8, x, count, scale);
  if (count >= 8 * hn::Lanes(d4)) return transform_with(d4, x, count, scale);
  walsh_hadamard(x, size);
}

template <class D>
HWY_ATTR HWY_INLINE hn::Vec<D> flipped(D d, hn::Vec<D> v, const uint32_t* masks) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::Xor(hn::BitCast(du, v), hn::LoadU(du, masks)));
}

float flipped_value(float value, uint32_t mask) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ mask);
}

HWY_ATTR void flip(const uint32_t* masks, int dim, float* x) {
  const hn::CappedTag<float, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= dim; i += lanes)
    hn::StoreU(flipped(d, hn::LoadU(d, x + i), masks + i), d, x + i);
  for (; i < dim; ++i) x[i] = flipped_value(x[i], masks[i]);
}

/// Signs, the butterfly of a round, signs, in one pass.
HWY_ATTR void flip_butterfly_flip(const uint32_t* before, const uint32_t* after, int dim, int round,
                                  float* x) {
  const hn::CappedTag<float, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int half = dim / 2;
  const int low = round % 2 == 0 ? 0 : dim - 2 * half;
  const int high = low + half;
  const auto factor = hn::Set(d, kSqrtHalf);
  int i = 0;
  for (; i + lanes <= half; i += lanes) {
    auto v0 = flipped(d, hn::LoadU(d, x + low + i), before + low + i);
    auto v1 = flipped(d, hn::LoadU(d, x + high + i), before + high + i);
    cross(v0, v1);
    hn::StoreU(flipped(d, hn::Mul(v0, factor), after + low + i), d, x + low + i);
    hn::StoreU(flipped(d, hn::Mul(v1, factor), after + high + i), d, x + high + i);
  }
  for (; i < half; ++i) {
    const float a = flipped_value(x[low + i], before[low + i]);
    const float b = flipped_value(x[high + i], before[high + i]);
    const float sum = a + b;
    const float difference = a - b;
    x[low + i] = flipped_value(sum * kSqrtHalf, after[low + i]);
    x[high + i] = flipped_value(difference * kSqrtHalf, after[high + i]);
  }
  if (dim % 2 != 0) {
    const int alone = low == 0 ? dim - 1 : 0;
    x[alone] = flipped_value(x[alone], before[alone] ^ after[alone]);
  }
}

const uint32_t* sign_layer(const HadamardTables& tables, int round, int layer) {
  return tables.sign_masks + static_cast<size_t>(round * kSignLayersPerRound + layer) * tables.dim;
}

HWY_ATTR void rotate(const HadamardTables& tables, float* x) {
  float* back = x + tables.dim - tables.transform_size;
  for (int round = 0; round < kHadamardRounds; ++round) {
    flip(sign_layer(tables, round, 0), tables.dim, x);
    transform(x, tables.transform_size);
    flip_butterfly_flip(sign_layer(tables, round, 1), sign_layer(tables, round, 2), tables.dim,
                        round, x);
    transform(back, tables.transform_size);
  }
}

HWY_ATTR void rotate_transpose(const HadamardTables& tables, float* x) {
  float* back = x + tables.dim - tables.transform_size;
  for (int round = kHadamardRounds - 1; round >= 0; --round) {
    transform(back, tables.transform_size);
    flip_butterfly_flip(sign_layer(tables, round, 2), sign_layer(tables, round, 1), tables.dim,
                        round, x);
    transform(x, tables.transform_size);
    flip(sign_layer(tables, round, 0), tables.dim, x);
  }
}

RotationKernels rotation_kernels() {
  RotationKernels kernels;
  kernels.target = hwy::TargetName(HWY_TARGET);
  kernels.apply = rotate;
  kernels.apply_transpose = rotate_transpose;
  return kernels;
}
WalshHadamard walsh_hadamard_kernel() { return transform; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(rotation_kernels);
HWY_EXPORT(walsh_hadamard_kernel);

RotationKernels simd_rotation_kernels() { return HWY_DYNAMIC_DISPATCH(rotation_kernels)(); }
WalshHadamard simd_walsh_hadamard() { return HWY_DYNAMIC_DISPATCH(walsh_hadamard_kernel)(); }

}  // namespace polarquant
#endif
