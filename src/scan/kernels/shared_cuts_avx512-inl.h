// SPDX-License-Identifier: MIT
// Cuts of shared fronts for AVX3_DL: the distances up to which a block's 64 rows reach a threshold,
// as bytes. Integers of 16 bits do in a third of the instructions what floats do, and are a little
// too large rather than too small: a few more rows are picked.
#if defined(POLARQUANT_SHARED_CUTS_AVX512_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SHARED_CUTS_AVX512_INL_H_
#undef POLARQUANT_SHARED_CUTS_AVX512_INL_H_
#else
#define POLARQUANT_SHARED_CUTS_AVX512_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "src/scan/kernels/shared_fronts.h"

#if HWY_TARGET == HWY_AVX3_DL
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Four rows of the 16 from `first` on in each of the block's four registers, so that cuts packed
/// to bytes come out in order.
HWY_ATTR HWY_INLINE void store_packable(__m512 rows, int first, float* block) {
  float* fours = block + first / 4;
  _mm_store_ps(fours, _mm512_castps512_ps128(rows));
  _mm_store_ps(fours + 16, _mm512_extractf32x4_ps(rows, 1));
  _mm_store_ps(fours + 32, _mm512_extractf32x4_ps(rows, 2));
  _mm_store_ps(fours + 48, _mm512_extractf32x4_ps(rows, 3));
}

constexpr float kMostShort = 32767;

/// Packable rows over the largest of all magnitudes, in 1/kMostShort.
HWY_ATTR HWY_INLINE void shorten(const float* rows, float largest, int16_t* shorts) {
  const __m512 unit = _mm512_set1_ps(largest > 0 ? kMostShort / largest : 0);
  const auto of16 = [&](int from) HWY_ATTR {
    return _mm512_cvtps_epi32(_mm512_mul_ps(unit, _mm512_load_ps(rows + from)));
  };
  _mm512_store_si512(shorts, _mm512_packs_epi32(of16(0), of16(16)));
  _mm512_store_si512(shorts + 32, _mm512_packs_epi32(of16(32), of16(48)));
}

/// A cut in 2^-shift, and how it is made.
class ShortCut {
 public:
  ShortCut() = default;
  HWY_ATTR ShortCut(const RowsCut& cut, const SharedFronts& fronts) {
    // size < 2^exponent; 2.4 % for what roundings add. What is no number is large.
    const float size = cut.size(fronts);
    const int exponent = static_cast<int>(std::bit_cast<uint32_t>(size * 1.024F) >> 23) - 126;
    fits_ = exponent <= kBits;
    if (!fits_) return;
    shift_ = std::min(kMostShift, kBits - exponent);
    const auto unit = static_cast<float>(1 << shift_);
    // Of two products each is off by 1.5: by a half for the row's value, which is at most the
    // product's size over kMostShort, a half for the query's and a half for itself.
    constexpr float kTooSmall = 3.1F;
    at_ = twice(cut.at * unit + kTooSmall + .5F);
    // Products of 16 bits are in 2^-15.
    const float of_product = unit * 32768 / kMostShort;
    inverse_ = twice(cut.inverse * fronts.most_inverse * of_product);
    ratio_ = twice(cut.ratio * fronts.most_ratio * of_product);
  }

  /// Whether there is room for the cuts in 16 bits.
  bool fits() const { return fits_; }
  /// Of 64 rows: below 0 as 0, and beyond a byte 255, which as a distance is 255 or more.
  HWY_ATTR HWY_INLINE __m512i of(const int16_t* inverses, const int16_t* ratios) const {
    const auto of32 = [&](int from) HWY_ATTR {
      const __m512i products = _mm512_add_epi16(
          _mm512_mulhrs_epi16(_mm512_set1_epi32(inverse_), _mm512_load_si512(inverses + from)),
          _mm512_mulhrs_epi16(_mm512_set1_epi32(ratio_), _mm512_load_si512(ratios + from)));
      return _mm512_sra_epi16(_mm512_add_epi16(_mm512_set1_epi32(at_), products),
                              _mm_cvtsi32_si128(shift_));
    };
    return _mm512_packus_epi16(of32(0), of32(32));
  }

 private:
  static constexpr int kBits = 15;
  /// Cuts are sums of magnitudes up to some 500.
  static constexpr int kMostShift = 6;

  /// Two of 16 bits: 32 are broadcast as they are loaded.
  static HWY_ATTR HWY_INLINE int32_t twice(float x) {
    return static_cast<int32_t>(0x10001U * (static_cast<uint32_t>(std::lrint(x)) & 0xFFFF));
  }

  int32_t at_ = 0;
  int32_t inverse_ = 0;
  int32_t ratio_ = 0;
  int shift_ = 0;
  bool fits_ = false;
};

/// As ShortCut::of, by floats: packable rows.
HWY_ATTR HWY_INLINE __m512i cuts_by_floats(const RowsCut& cut, const float* inverses,
                                           const float* ratios) {
  const __m512 at = _mm512_set1_ps(cut.at);
  const __m512 inverse = _mm512_set1_ps(cut.inverse);
  const __m512 ratio = _mm512_set1_ps(cut.ratio);
  // Where it is not a number, any distance will do.
  const auto of16 = [&](int from) HWY_ATTR {
    const __m512 of_rows =
        _mm512_fmadd_ps(inverse, _mm512_load_ps(inverses + from),
                        _mm512_fmadd_ps(ratio, _mm512_load_ps(ratios + from), at));
    return _mm512_cvttps_epi32(_mm512_min_ps(of_rows, _mm512_set1_ps(RowsCut::kMost)));
  };
  return _mm512_packus_epi16(_mm512_packs_epi32(of16(0), of16(16)),
                             _mm512_packs_epi32(of16(32), of16(48)));
}

/// What makes a query's cuts.
struct BlockCuts {
  RowsCut floats;
  ShortCut shorts;

  BlockCuts() = default;
  HWY_ATTR BlockCuts(const FrontPick& pick, const SharedFronts& fronts)
      : floats(*pick.query, fronts, pick.threshold), shorts(floats, fronts) {}

  HWY_ATTR HWY_INLINE __m512i of(const SharedFronts& fronts, int block) const {
    if (HWY_LIKELY(shorts.fits()))
      return shorts.of(fronts.short_inverse_norms[block], fronts.short_ratios[block]);
    return cuts_by_floats(floats, fronts.inverse_norms[block], fronts.ratios[block]);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
