// SPDX-License-Identifier: MIT
// Thresholds of shared sketches: the distances up to which rows reach a threshold
// (DistanceThreshold), as bytes. Integers of 16 bits take half of the instructions that floats
// take, or less, and are a little too large rather than too small: a few more rows are candidates.
#if defined(POLARQUANT_SHARED_THRESHOLDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SHARED_THRESHOLDS_INL_H_
#undef POLARQUANT_SHARED_THRESHOLDS_INL_H_
#else
#define POLARQUANT_SHARED_THRESHOLDS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "src/scan/kernels/batch/shared_sketches.h"
#include "src/simd/capabilities.h"

#if !POLAR_SIMD_SCALAR
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows whose thresholds are made together.
#if POLAR_SIMD_VBMI
using ThresholdBytes = hn::FixedTag<uint8_t, kBlockRows>;
#else
using ThresholdBytes = hn::CappedTag<uint8_t, 32>;
#endif
using ThresholdShorts = hn::Repartition<int16_t, ThresholdBytes>;
using ThresholdInts = hn::Repartition<int32_t, ThresholdBytes>;
using ThresholdFloats = hn::RebindToFloat<ThresholdInts>;
constexpr size_t kThresholdRows = hn::MaxLanes(ThresholdBytes());
constexpr size_t kHalfRows = kThresholdRows / 2;
constexpr size_t kQuarterRows = kThresholdRows / 4;

/// Packs two registers into one; numbers beyond its range become the nearest. On x86 16 bytes of
/// each take turns: inverse norms and ratios are laid out so that what is packed twice comes out in
/// the order of distances.
HWY_ATTR HWY_INLINE hn::Vec<ThresholdShorts> packed(hn::Vec<ThresholdInts> low,
                                                    hn::Vec<ThresholdInts> high) {
  return hn::ReorderDemote2To(ThresholdShorts(), low, high);
}
HWY_ATTR HWY_INLINE hn::Vec<ThresholdBytes> packed(hn::Vec<ThresholdShorts> low,
                                                   hn::Vec<ThresholdShorts> high) {
#if POLAR_SIMD_VBMI
  return hn::Vec<ThresholdBytes>{_mm512_packus_epi16(low.raw, high.raw)};
#elif POLAR_SIMD_AVX2
  return hn::Vec<ThresholdBytes>{_mm256_packus_epi16(low.raw, high.raw)};
#elif POLAR_SIMD_X86
  return hn::Vec<ThresholdBytes>{_mm_packus_epi16(low.raw, high.raw)};
#else
  const hn::Half<ThresholdBytes> half;
  return hn::Combine(ThresholdBytes(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

/// Rounds towards 0. Highway's conversion takes four instructions more for numbers that are too
/// large, which none is here; one that is too small becomes the least.
HWY_ATTR HWY_INLINE hn::Vec<ThresholdInts> truncated(hn::Vec<ThresholdFloats> x) {
#if POLAR_SIMD_VBMI
  return hn::Vec<ThresholdInts>{_mm512_cvttps_epi32(x.raw)};
#elif POLAR_SIMD_AVX2
  return hn::Vec<ThresholdInts>{_mm256_cvttps_epi32(x.raw)};
#elif POLAR_SIMD_X86
  return hn::Vec<ThresholdInts>{_mm_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(ThresholdInts(), x);
#endif
}

constexpr float kMostShort = 32767;

/// Sets the short norms and ratios of all blocks from the floats.
HWY_ATTR inline void shorten(SharedSketches* sketches) {
  const auto shorten_rows = [](const float* rows, float largest, int16_t* shorts) HWY_ATTR {
    const ThresholdFloats d;
    const auto unit = hn::Set(d, largest > 0 ? kMostShort / largest : 0);
    const auto quarter = [&](size_t first) HWY_ATTR {
      return hn::NearestInt(hn::Mul(unit, hn::Load(d, rows + first)));
    };
    for (size_t first = 0; first < kBlockRows; first += kHalfRows)
      hn::Store(packed(quarter(first), quarter(first + kQuarterRows)), ThresholdShorts(),
                shorts + first);
  };
  for (int i = 0; i < sketches->blocks; ++i) {
    shorten_rows(sketches->inverse_norms[i], sketches->most_inverse,
                 sketches->short_inverse_norms[i]);
    shorten_rows(sketches->ratios[i], sketches->most_ratio, sketches->short_ratios[i]);
  }
}

/// A threshold in 2^-shift, and how it is made.
class ShortThreshold {
 public:
  ShortThreshold() = default;
  HWY_ATTR ShortThreshold(const DistanceThreshold& threshold, const SharedSketches& sketches) {
    // size < 2^exponent; 2.4 % are for what roundings add. NaN counts as large.
    const float size = threshold.size(sketches);
    const int exponent = static_cast<int>(std::bit_cast<uint32_t>(size * 1.024F) >> 23) - 126;
    fits_ = exponent <= kBits;
    if (!fits_) return;
    shift_ = std::min(kMostShift, kBits - exponent);
    const auto unit = static_cast<float>(1 << shift_);
    // Each of the two products is off by 1.5: by a half for the row's value, which is at most the
    // product's size over kMostShort, a half for the query's and a half for itself.
    constexpr float kTooSmall = 3.1F;
    at_ = twice(threshold.at * unit + kTooSmall + .5F);
    // Products of 16-bit numbers come in units of 2^-15.
    const float product_unit = unit * 32768 / kMostShort;
    inverse_ = twice(threshold.inverse * sketches.most_inverse * product_unit);
    ratio_ = twice(threshold.ratio * sketches.most_ratio * product_unit);
  }

  /// Whether thresholds fit into 16 bits.
  bool fits() const { return fits_; }
  HWY_ATTR HWY_INLINE hn::Vec<ThresholdBytes> at(const int16_t* inverses,
                                                 const int16_t* ratios) const {
    const ThresholdShorts d;
    const auto half = [&](size_t first) HWY_ATTR {
      const auto products =
          hn::Add(hn::MulFixedPoint15(each(inverse_), hn::Load(d, inverses + first)),
                  hn::MulFixedPoint15(each(ratio_), hn::Load(d, ratios + first)));
      return hn::ShiftRightSame(hn::Add(each(at_), products), shift_);
    };
    return packed(half(0), half(kHalfRows));
  }

 private:
  static constexpr int kBits = 15;
  /// Thresholds are sums of magnitudes up to some 500.
  static constexpr int kMostShift = 6;

  /// Two of 16 bits, because 32 bits are broadcast as they are loaded.
  static HWY_ATTR HWY_INLINE int32_t twice(float x) {
    return static_cast<int32_t>(0x10001U * (static_cast<uint32_t>(std::lrint(x)) & 0xFFFF));
  }
  static HWY_ATTR HWY_INLINE hn::Vec<ThresholdShorts> each(int32_t twice) {
    return hn::BitCast(ThresholdShorts(), hn::Set(ThresholdInts(), twice));
  }

  int32_t at_ = 0;
  int32_t inverse_ = 0;
  int32_t ratio_ = 0;
  int shift_ = 0;
  bool fits_ = false;
};

/// ShortThreshold::at by floats.
HWY_ATTR HWY_INLINE hn::Vec<ThresholdBytes> thresholds_by_floats(const DistanceThreshold& threshold,
                                                                 const float* inverses,
                                                                 const float* ratios) {
  const ThresholdFloats d;
  const auto quarter = [&](size_t first) HWY_ATTR {
    const auto sums = hn::MulAdd(hn::Set(d, threshold.inverse), hn::Load(d, inverses + first),
                                 hn::MulAdd(hn::Set(d, threshold.ratio),
                                            hn::Load(d, ratios + first), hn::Set(d, threshold.at)));
    // Where the threshold is NaN, any distance passes.
    const auto most = hn::Set(d, DistanceThreshold::kMost);
    return truncated(hn::IfThenElse(hn::Lt(sums, most), sums, most));
  };
  const auto half = [&](size_t first)
                        HWY_ATTR { return packed(quarter(first), quarter(first + kQuarterRows)); };
  return packed(half(0), half(kHalfRows));
}

/// Makes a query's thresholds: those below 0 are 0, and those beyond a byte 255, which as a
/// distance means 255 or more.
class SketchThresholds {
 public:
  SketchThresholds() = default;
  HWY_ATTR SketchThresholds(const SketchSelection& selection, const SharedSketches& sketches)
      : floats_(*selection.query, sketches, selection.threshold), shorts_(floats_, sketches) {}

  /// For a register of rows, the block's from `row` on.
  HWY_ATTR HWY_INLINE hn::Vec<ThresholdBytes> at(const SharedSketches& sketches, int block,
                                                 int row) const {
    if (HWY_LIKELY(shorts_.fits()))
      return shorts_.at(sketches.short_inverse_norms[block] + row,
                        sketches.short_ratios[block] + row);
    return thresholds_by_floats(floats_, sketches.inverse_norms[block] + row,
                                sketches.ratios[block] + row);
  }

 private:
  DistanceThreshold floats_;
  ShortThreshold shorts_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
