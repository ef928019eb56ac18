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

#include "src/codec/float16.h"
#include "src/scan/block_layout.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// The factors of 8 rows, units left out.
struct Factors8 {
  __m256 scales;
  __m256 biases;
};

/// Of rows row … row+7.
template <bool kHalf>
HWY_ATTR HWY_INLINE Factors8 load_factors8(const uint8_t* stored, int row) {
  __m256 low;
  __m256 high;
  if constexpr (kHalf) {
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

#endif

/// The scales and biases of `room` rows, a multiple of 8, units left out; all aligned to 32 bytes.
HWY_ATTR inline void widen_factors(bool half, const uint8_t* stored, int room, float* scales,
                                   float* biases) {
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  for (int row = 0; row < room; row += kGroupRows) {
    const Factors8 factors =
        half ? load_factors8<true>(stored, row) : load_factors8<false>(stored, row);
    _mm256_store_ps(scales + row, factors.scales);
    _mm256_store_ps(biases + row, factors.biases);
  }
#else
  for (int row = 0; row < room; ++row) {
    if (half) {
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
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
