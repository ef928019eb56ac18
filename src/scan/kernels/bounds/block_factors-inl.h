// SPDX-License-Identifier: MIT
// The stored factors of a block's rows as floats.
#if defined(POLARQUANT_BLOCK_FACTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_BLOCK_FACTORS_INL_H_
#undef POLARQUANT_BLOCK_FACTORS_INL_H_
#else
#define POLARQUANT_BLOCK_FACTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/codec/factors.h"
#include "src/codec/float8.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/model/scan_codec.h"
#include "src/simd/capabilities.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The bits that are kept (wide16.h) of a row's 32 bits, whose scale is in the lower half, shifted
/// to where a float has its exponent and mantissa.
constexpr int kWideBits = 0x3FFFC000;
constexpr auto kSignedWideBits = static_cast<int>(0xBFFF8000);

/// Of factors of 8 bits: a row's scale and bias are the low and the high byte of 16 bits. Moved to
/// the upper half of 32 bits, where exact factors have the number of a centroid below them, they
/// are shifted as above.
constexpr uint32_t kFloat8Bits = 0xFFU << 19;
constexpr uint32_t kSignedFloat8Magnitude = 0x7FU << 20;
constexpr uint32_t kSignedFloat8Sign = 1U << 31;

/// As many rows' as `D` has lanes.
template <class D>
struct WidenedFactors {
  hn::VFromD<hn::RebindToFloat<D>> scales;
  hn::VFromD<hn::RebindToFloat<D>> biases;
};

/// Factors of 8 bits, which are the upper half of each 32 bits; units left out.
template <class D>
HWY_ATTR HWY_INLINE WidenedFactors<D> widen_float8(D d, const FactorFormat& format,
                                                   hn::VFromD<D> both) {
  const hn::RebindToFloat<D> df;
  const auto unit = hn::Set(df, kFloat8Unit);
  const auto bits = hn::Set(d, kFloat8Bits);
  const auto scale = hn::And(hn::ShiftLeft<3>(both), bits);
  const auto bias =
      format.signed_bias
          ? hn::Or(hn::And(hn::ShiftRight<4>(both), hn::Set(d, kSignedFloat8Magnitude)),
                   hn::And(both, hn::Set(d, kSignedFloat8Sign)))
          : hn::And(hn::ShiftRight<5>(both), bits);
  return {hn::Mul(hn::BitCast(df, scale), unit), hn::Mul(hn::BitCast(df, bias), unit)};
}

/// From `row` on, as many rows at a time as `d` has lanes; returns the first that is left.
template <class D>
HWY_ATTR HWY_INLINE int widen_float8(D d, const FactorFormat& format, const uint8_t* stored,
                                     int row, int capacity, float* scales, float* biases) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::RebindToFloat<D> df;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (; row + lanes <= capacity; row += lanes) {
    const auto both = hn::ShiftLeft<16>(
        hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(stored) + row)));
    const auto widened = widen_float8(d, format, both);
    hn::Store(widened.scales, df, scales + row);
    hn::Store(widened.biases, df, biases + row);
  }
  return row;
}
/// Whole registers, since narrower stores are waited for by those who load these.
HWY_ATTR HWY_INLINE void widen_float8(const FactorFormat& format, const uint8_t* stored,
                                      int capacity, float* scales, float* biases) {
  const int row = widen_float8(hn::CappedTag<uint32_t, 2 * kGroupRows>(), format, stored, 0,
                               capacity, scales, biases);
  widen_float8(hn::CappedTag<uint32_t, kGroupRows>(), format, stored, row, capacity, scales,
               biases);
}

#if POLAR_SIMD_AVX2

/// The factors of 8 rows, units left out.
struct Factors8 {
  __m256 scales;
  __m256 biases;
};

/// For rows row … row+7.
template <FactorForm kForm, bool kL2>
HWY_ATTR HWY_INLINE Factors8 load_factors8(const uint8_t* stored, int row) {
  if constexpr (kForm == FactorForm::wide16) {
    const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(stored + 4 * row));
    const auto number = [](__m256i shifted, int mask) HWY_ATTR {
      return _mm256_mul_ps(_mm256_castsi256_ps(_mm256_and_si256(shifted, _mm256_set1_epi32(mask))),
                           _mm256_set1_ps(kWideUnit));
    };
    return {number(_mm256_slli_epi32(both, 14), kWideBits),
            kL2 ? number(_mm256_srli_epi32(both, 2), kWideBits)
                : number(_mm256_srai_epi32(both, 1), kSignedWideBits)};
  }
  __m256 low;
  __m256 high;
  if constexpr (kForm == FactorForm::float16) {
    // Every CPU with AVX2 converts float16 in hardware, exactly like the plain code.
    const auto* four_rows = reinterpret_cast<const __m128i*>(stored + 4 * row);
    low = _mm256_cvtph_ps(_mm_loadu_si128(four_rows));
    high = _mm256_cvtph_ps(_mm_loadu_si128(four_rows + 1));
  } else {
    const auto* values = reinterpret_cast<const float*>(stored + 8 * row);
    low = _mm256_loadu_ps(values);
    high = _mm256_loadu_ps(values + 8);
  }
  // Rows 0, 1, 4, 5, 2, 3, 6, 7: shuffles stay within 128 bits.
  const auto in_order = [](__m256 rows) HWY_ATTR {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(rows), 0b11011000));
  };
  return {in_order(_mm256_shuffle_ps(low, high, 0b10001000)),
          in_order(_mm256_shuffle_ps(low, high, 0b11011101))};
}

template <FactorForm kForm, bool kL2>
HWY_ATTR HWY_INLINE void widen_rows(const uint8_t* stored, int capacity, float* scales,
                                    float* biases) {
  for (int row = 0; row < capacity; row += kGroupRows) {
    const Factors8 factors = load_factors8<kForm, kL2>(stored, row);
    _mm256_store_ps(scales + row, factors.scales);
    _mm256_store_ps(biases + row, factors.biases);
  }
}

#else

template <FactorForm kForm, bool kL2>
HWY_ATTR HWY_INLINE void widen_rows(const uint8_t* stored, int capacity, float* scales,
                                    float* biases) {
  if constexpr (kForm == FactorForm::wide16) {
    const hn::CappedTag<uint32_t, kGroupRows> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RebindToFloat<decltype(d)> df;
    const auto unit = hn::Set(df, kWideUnit);
    const auto bits = hn::Set(d, static_cast<uint32_t>(kWideBits));
    const auto signed_bits = hn::Set(d, static_cast<uint32_t>(kSignedWideBits));
    for (int row = 0; row < capacity; row += static_cast<int>(hn::Lanes(d))) {
      const auto both = hn::LoadU(d, reinterpret_cast<const uint32_t*>(stored) + row);
      const auto scale = hn::And(hn::ShiftLeft<14>(both), bits);
      const auto bias =
          kL2 ? hn::And(hn::ShiftRight<2>(both), bits)
              : hn::And(hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(di, both))), signed_bits);
      hn::Store(hn::Mul(hn::BitCast(df, scale), unit), df, scales + row);
      hn::Store(hn::Mul(hn::BitCast(df, bias), unit), df, biases + row);
    }
    return;
  }
  for (int row = 0; row < capacity; ++row) {
    if constexpr (kForm == FactorForm::float16) {
      uint16_t values[2];
      std::memcpy(values, stored + sizeof values * static_cast<size_t>(row), sizeof values);
      scales[row] = half_to_float(values[0]);
      biases[row] = half_to_float(values[1]);
    } else {
      float values[2];
      std::memcpy(values, stored + sizeof values * static_cast<size_t>(row), sizeof values);
      scales[row] = values[0];
      biases[row] = values[1];
    }
  }
}

#endif

/// The scales and biases of `capacity` rows, a multiple of 8, units left out, of codes without
/// centroids; all aligned to 64 bytes.
HWY_ATTR inline void widen_factors(const FactorFormat& format, const uint8_t* stored, int capacity,
                                   float* scales, float* biases) {
  switch (format.form) {
    case FactorForm::float8:
      return widen_float8(format, stored, capacity, scales, biases);
    case FactorForm::wide16:
      if (format.signed_bias)
        return widen_rows<FactorForm::wide16, false>(stored, capacity, scales, biases);
      return widen_rows<FactorForm::wide16, true>(stored, capacity, scales, biases);
    case FactorForm::float16:
      return widen_rows<FactorForm::float16, false>(stored, capacity, scales, biases);
    default:
      return widen_rows<FactorForm::float32, false>(stored, capacity, scales, biases);
  }
}

/// The factors of as many rows about centroids as `D` has lanes, each row's at the top of 32 bits.
/// Whole registers are read: up to 64 bytes from the first row on.
template <class D>
HWY_ATTR HWY_INLINE hn::VFromD<D> load_centroid_words(D d, const FactorFormat& format,
                                                      const uint8_t* stored) {
  const bool has_words = format.form != FactorForm::centroid24;
#if POLAR_SIMD_SCALAR
  if (has_words) return hn::LoadU(d, reinterpret_cast<const uint32_t*>(stored));
  return hn::Set(d,
                 uint32_t{stored[0]} << 8 | uint32_t{stored[1]} << 16 | uint32_t{stored[2]} << 24);
#else
  const auto loaded = hn::LoadU(d, reinterpret_cast<const uint32_t*>(stored));
  if (has_words) return loaded;
  // 4 rows are 3 words; they are brought to 16 bytes, and there each to its own 4.
  alignas(64) static constexpr uint32_t kWords[16] = {0, 1, 2, 2, 3, 4,  5,  5,
                                                      6, 7, 8, 8, 9, 10, 11, 11};
  constexpr uint8_t kNone = 0x80;
  alignas(16) static constexpr uint8_t kBytes[16] = {kNone, 0, 1, 2, kNone, 3, 4,  5,
                                                     kNone, 6, 7, 8, kNone, 9, 10, 11};
  const hn::Repartition<uint8_t, D> d8;
  const auto spread = hn::TableLookupLanes(loaded, hn::SetTableIndices(d, kWords));
  return hn::BitCast(d,
                     hn::TableLookupBytesOr0(hn::BitCast(d8, spread), hn::LoadDup128(d8, kBytes)));
#endif
}

/// The numbers of the rows' centroids, by these words: that of the last one where there is none of
/// this number.
template <class D>
HWY_ATTR HWY_INLINE hn::VFromD<hn::RebindToSigned<D>> centroids_of(D d, const ScanCodec& codec,
                                                                   hn::VFromD<D> words) {
  const hn::RebindToSigned<D> di;
  static_assert(kCentroid24.number == 12 && kCentroid32.number == 16);
  const auto numbers = codec.factor_format().form == FactorForm::centroid24
                           ? hn::And(hn::ShiftRight<8>(words), hn::Set(d, 0xFFF))
                           : hn::And(words, hn::Set(d, 0xFFFF));
  return hn::Min(hn::BitCast(di, numbers), hn::Set(di, codec.centroid_count() - 1));
}

/// The terms of as many rows about centroids as `D` has lanes, and the numbers of these.
template <class D>
struct CentroidTerms {
  hn::VFromD<D> scale;
  hn::VFromD<D> constant;
  hn::VFromD<hn::RebindToSigned<D>> centroid;
};

/// As load_terms (row_values.h), by the same operations; factors: of all rows, from which those of
/// `row` and the next are read.
template <class D>
HWY_ATTR HWY_INLINE CentroidTerms<D> load_centroid_terms(D d, const ScanCodec& codec,
                                                         const uint8_t* factors, size_t row) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const FactorFormat& format = codec.factor_format();
  const auto words = load_centroid_words(du, format, factors + codec.layout().factor_bytes() * row);
  const auto centroid = centroids_of(du, codec, words);
  const auto scale_unit = hn::Set(d, format.scale_unit);
  const bool l2 = codec.metric() == Metric::l2;
  if (!format.stores_shares()) {
    const auto widened = widen_float8(du, format, words);
    const auto bias = hn::Mul(widened.biases, hn::Set(d, format.bias_unit));
    return {hn::Mul(widened.scales, scale_unit), l2 ? hn::Neg(bias) : bias, centroid};
  }
  static_assert(kCentroid24.scale == 7 && kCentroid24.share == 5);
  static_assert(kCentroid32.scale == 8 && kCentroid32.share == 8);
  const bool in24 = format.form == FactorForm::centroid24;
  const auto scale_bits = in24 ? hn::And(words, hn::Set(du, kSignedFloat8Magnitude))
                               : hn::And(hn::ShiftLeft<3>(words), hn::Set(du, kFloat8Bits));
  const auto share = hn::ConvertTo(d, in24 ? hn::ShiftRight<27>(hn::BitCast(di, words))
                                           : hn::ShiftRight<24>(hn::BitCast(di, words)));
  const auto scale =
      hn::Mul(hn::Mul(hn::BitCast(d, scale_bits), hn::Set(d, kFloat8Unit)), scale_unit);
  const auto bias = hn::Mul(scale, hn::Add(hn::Mul(hn::Set(d, format.shares.square), scale),
                                           hn::Mul(hn::Set(d, format.shares.step), share)));
  return {scale, l2 ? hn::Neg(bias) : bias, centroid};
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
