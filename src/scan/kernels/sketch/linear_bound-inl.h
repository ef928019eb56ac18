// SPDX-License-Identifier: MIT
// Which rows of a block reach a linear bound, by their distances.
#if defined(POLARQUANT_LINEAR_BOUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_LINEAR_BOUND_INL_H_
#undef POLARQUANT_LINEAR_BOUND_INL_H_
#else
#define POLARQUANT_LINEAR_BOUND_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/scan/kernels/sketch/rows_of_blocks-inl.h"
#include "src/scan/kernels/sketch/sign_blocks-inl.h"
#include "src/scan/kernels/sketch/sketch_candidates.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR && !POLAR_SIMD_VPOPCNT
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Tells which rows of a block reach a linear bound, as bits of one number, which is read when all
/// are there, since which rows do is not predictable.
template <class D32>
class BlockLinearBound {
 public:
  static constexpr int kRows = static_cast<int>(hn::MaxLanes(D32()));

  HWY_ATTR HWY_INLINE explicit BlockLinearBound(const LinearBound& bound)
      : base_(hn::Set(Floats(), bound.base)),
        weight_(hn::Set(Floats(), bound.weight)),
        height_(hn::Set(Floats(), bound.height)),
        tilt_(hn::Set(Floats(), bound.tilt)),
        threshold_(hn::Set(Floats(), bound.threshold)) {}

  /// Writes the bounds of the next kRows rows, whose distances are in *computed; returns the bits,
  /// from the row's place on, of those that reach the bound.
  HWY_ATTR HWY_INLINE uint64_t reached(int row, const BlockFactors& factors,
                                       BlockDistances* computed) {
    const Floats df;
    const hn::RebindToSigned<D32> di;
    const auto distances = hn::Load(D32(), computed->distances + row);
    const auto distance = hn::ConvertTo(df, hn::BitCast(di, distances));
    const auto offset = hn::Add(base_, hn::Mul(weight_, hn::Load(df, factors.constant + row)));
    const auto bound = hn::MulAdd(hn::Load(df, factors.norm + row),
                                  hn::NegMulAdd(tilt_, distance, height_), offset);
    hn::Store(bound, df, computed->bounds + row);
    // Read as wide as it was stored, so that the load does not wait until it reaches memory.
    alignas(8) uint8_t bits[8];
    std::conditional_t<kRows == 16, uint16_t, uint8_t> mask;
    hn::StoreMaskBits(df, hn::Ge(bound, threshold_), bits);
    std::memcpy(&mask, bits, sizeof mask);
    return uint64_t{mask} << row;
  }

 private:
  using Floats = hn::RebindToFloat<D32>;

  hn::Vec<Floats> base_;
  hn::Vec<Floats> weight_;
  hn::Vec<Floats> height_;
  hn::Vec<Floats> tilt_;
  hn::Vec<Floats> threshold_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
