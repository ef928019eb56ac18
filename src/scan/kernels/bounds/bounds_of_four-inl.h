// SPDX-License-Identifier: MIT
// Terms and bounds of four rows in registers of 128 bits, for x86 targets from AVX2 on.
#if defined(POLARQUANT_BOUNDS_OF_FOUR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_BOUNDS_OF_FOUR_INL_H_
#undef POLARQUANT_BOUNDS_OF_FOUR_INL_H_
#else
#define POLARQUANT_BOUNDS_OF_FOUR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "src/scan/kernels/bounds/block_factors-inl.h"
#include "src/scan/kernels/decode/row_parts-inl.h"
#include "src/scan/model/scan_query.h"
#include "src/simd/capabilities.h"

#if POLAR_SIMD_AVX2
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// load_terms (row_values.h) and sum_bound (scan_query.h) of four rows. Every CPU with AVX2
/// converts float16 in hardware, exactly like the plain code.
class BoundsOfFour {
 public:
  HWY_ATTR BoundsOfFour(const ScanCodec& codec, const ScoreConstants& score, const SumBound& bound)
      : format_(codec.factor_format()),
        l2_(codec.metric() == Metric::l2),
        base_(_mm_set1_ps(score.base)),
        weight_(_mm_set1_ps(score.weight)),
        slope_(_mm_set1_ps(bound.slope)),
        other_slope_(_mm_set1_ps(bound.other_slope)),
        margin_(_mm_set1_ps(bound.margin)),
        squared_norm_slope_(_mm_set1_ps(bound.squared_norm_slope)) {}

  HWY_ATTR HWY_INLINE void load(const RowParts (&at)[4]) {
    __m128 low;
    __m128 high;
    if (format_.form == FactorForm::wide16) {
      int factors[4];
      for (int j = 0; j < 4; ++j) std::memcpy(&factors[j], at[j].factors, 4);
      const __m128i both = _mm_setr_epi32(factors[0], factors[1], factors[2], factors[3]);
      const auto number = [](__m128i shifted, int mask) HWY_ATTR {
        return _mm_mul_ps(_mm_castsi128_ps(_mm_and_si128(shifted, _mm_set1_epi32(mask))),
                          _mm_set1_ps(kWideUnit));
      };
      const __m128 bias = l2_ ? number(_mm_srli_epi32(both, 2), kWideBits)
                              : number(_mm_srai_epi32(both, 1), kSignedWideBits);
      set_factors(number(_mm_slli_epi32(both, 14), kWideBits), bias);
      return;
    }
    if (format_.form == FactorForm::float16) {
      int factors[4];
      for (int j = 0; j < 4; ++j) std::memcpy(&factors[j], at[j].factors, 4);
      const __m256 values =
          _mm256_cvtph_ps(_mm_setr_epi32(factors[0], factors[1], factors[2], factors[3]));
      low = _mm256_castps256_ps128(values);
      high = _mm256_extractf128_ps(values, 1);
    } else {
      double factors[4];
      for (int j = 0; j < 4; ++j) std::memcpy(&factors[j], at[j].factors, 8);
      low = _mm_castpd_ps(_mm_setr_pd(factors[0], factors[1]));
      high = _mm_castpd_ps(_mm_setr_pd(factors[2], factors[3]));
    }
    set_factors(_mm_shuffle_ps(low, high, 0b10001000), _mm_shuffle_ps(low, high, 0b11011101));
  }
  /// For split stages.
  HWY_ATTR HWY_INLINE void set_squared_norms(__m128 squared_norms) {
    squared_norm_ = squared_norms;
  }

  HWY_ATTR HWY_INLINE __m128 bound(__m128i sum, __m128i other_sum) const {
    const __m128 by_sums =
        _mm_add_ps(_mm_add_ps(_mm_mul_ps(slope_, _mm_cvtepi32_ps(sum)),
                              _mm_mul_ps(other_slope_, _mm_cvtepi32_ps(other_sum))),
                   margin_);
    const __m128 by_squared_norm =
        _mm_sub_ps(by_sums, _mm_mul_ps(squared_norm_slope_, squared_norm_));
    return _mm_add_ps(_mm_add_ps(base_, _mm_mul_ps(weight_, constant_)),
                      _mm_mul_ps(norm_, by_squared_norm));
  }

  static_assert(sizeof(ScanTerms) == sizeof(__m128));
#if POLAR_SIMD_VPOPCNT
  /// Stores those of the mask, one after the other, and 0 up to four.
  HWY_ATTR HWY_INLINE void store_some(__mmask8 mask, ScanTerms* terms) const {
    const __m512i row_by_row =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512 all = _mm512_insertf32x4(_mm512_castps128_ps512(scale_), constant_, 1);
    all = _mm512_insertf32x4(_mm512_insertf32x4(all, norm_, 2), squared_norm_, 3);
    const __m512i rows = _mm512_castps_si512(_mm512_permutexvar_ps(row_by_row, all));
    // Each row is two of eight.
    const auto halves = static_cast<__mmask8>(3 * _pdep_u32(mask, 0x55));
    _mm512_storeu_si512(terms, _mm512_maskz_compress_epi64(halves, rows));
  }
#else
  HWY_ATTR HWY_INLINE void store(ScanTerms (&terms)[4]) const {
    __m128 rows[4] = {scale_, constant_, norm_, squared_norm_};
    _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
    for (int j = 0; j < 4; ++j) _mm_storeu_ps(&terms[j].scale, rows[j]);
  }
#endif

 private:
  /// In units.
  HWY_ATTR HWY_INLINE void set_factors(__m128 scales, __m128 biases) {
    scale_ = _mm_mul_ps(scales, _mm_set1_ps(format_.scale_unit));
    const __m128 bias = _mm_mul_ps(biases, _mm_set1_ps(format_.bias_unit));
    constant_ = l2_ ? _mm_xor_ps(_mm_mul_ps(bias, bias), _mm_set1_ps(-0.0F)) : bias;
    norm_ = l2_ ? bias : scale_;
    squared_norm_ = _mm_setzero_ps();
  }

  const FactorFormat& format_;
  bool l2_;
  __m128 base_, weight_, slope_, other_slope_, margin_, squared_norm_slope_;
  __m128 scale_, constant_, norm_, squared_norm_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
