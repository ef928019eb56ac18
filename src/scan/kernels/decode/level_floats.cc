// SPDX-License-Identifier: MIT
#include "src/scan/kernels/decode/level_floats.h"

#include <cstdint>

#include "src/scan/layout/level_planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/decode/level_floats.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/byte_mask-inl.h"
#include "src/simd/capabilities.h"
#include "src/simd/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VBMI

/// The magnitudes' 128 levels, in registers.
class MagnitudeFloats {
 public:
  explicit HWY_ATTR HWY_INLINE MagnitudeFloats(const float* levels) {
    for (int i = 0; i < 8; ++i) parts_[i] = _mm512_loadu_ps(levels + 16 * i);
  }
  HWY_ATTR HWY_INLINE __m512 look_up(__m512i numbers) const {
    const auto look_up_32 = [&](int first) HWY_ATTR {
      return _mm512_permutex2var_ps(parts_[first], numbers, parts_[first + 1]);
    };
    const __mmask16 in_odd_half = _mm512_test_epi32_mask(numbers, _mm512_set1_epi32(32));
    const __mmask16 is_high = _mm512_test_epi32_mask(numbers, _mm512_set1_epi32(64));
    return _mm512_mask_mov_ps(_mm512_mask_mov_ps(look_up_32(0), in_odd_half, look_up_32(2)),
                              is_high,
                              _mm512_mask_mov_ps(look_up_32(4), in_odd_half, look_up_32(6)));
  }

 private:
  __m512 parts_[8];
};

/// 64 fields of 7 bits as bytes.
HWY_ATTR HWY_INLINE __m512i unpack_magnitudes(const uint8_t* magnitudes) {
  constexpr __mmask64 kBytes = (__mmask64{1} << level_magnitude_bytes(kSegmentDims)) - 1;
  // Each seven bytes in eight, of which the last one does not count.
  const __m512i spread =
      _mm512_maskz_expand_epi8(0x7F7F7F7F7F7F7F7F, _mm512_maskz_loadu_epi8(kBytes, magnitudes));
  const __m512i shifts = _mm512_set1_epi64(0x312A231C150E0700);
  return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, spread), _mm512_set1_epi8(0x7F));
}

HWY_ATTR void segment_floats(uint64_t signs, const uint8_t* magnitudes,
                             const MagnitudeFloats& table, float* y) {
  alignas(64) uint8_t numbers[kSegmentDims];
  _mm512_store_si512(numbers, unpack_magnitudes(magnitudes));
  const __m512 sign = _mm512_set1_ps(-0.0F);
  for (int i = 0; i < kSegmentDims; i += 16, signs >>= 16) {
    const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(numbers + i));
    const __m512 values = table.look_up(_mm512_cvtepu8_epi32(bytes));
    _mm512_storeu_ps(y + i,
                     _mm512_mask_xor_ps(values, static_cast<__mmask16>(signs), values, sign));
  }
}

#elif POLAR_SIMD_AVX2

/// The 64 levels of a full segment, of which each sign and magnitude is one (level_planes.h).
HWY_ATTR HWY_INLINE void join_segment(uint64_t signs, const uint8_t* magnitudes,
                                      const HalfSegmentFields& fields, uint8_t* levels) {
  constexpr size_t kHalf = kSegmentDims / 2;
  for (size_t half = 0; half < 2; ++half, signs >>= kHalf) {
    const __m256i numbers = fields.read(magnitudes + half * level_magnitude_bytes(kHalf));
    const __m256i negative = byte_mask(static_cast<uint32_t>(signs));
    const __m256i positive = _mm256_or_si256(numbers, _mm256_set1_epi8(-128));
    _mm256_store_si256(reinterpret_cast<__m256i*>(levels + half * kHalf),
                       _mm256_xor_si256(positive, negative));
  }
}

#endif

HWY_ATTR void split_levels_as_floats(const BlockLayout& layout, const RowPlace& at,
                                     const float* levels, float* y) {
  const uint8_t* magnitudes = layout.row_payload(at) + layout.payload_sign_bytes();
#if POLAR_SIMD_VBMI
  const MagnitudeFloats table(levels + (1 << kLevelMagnitudeBits));
#elif POLAR_SIMD_AVX2
  const HalfSegmentFields fields(kLevelMagnitudeBits);
#endif
  for (int segment = 0; segment < layout.sign_words(); ++segment) {
    const int count = segment_dims(layout.dim(), segment);
    const uint64_t signs = to_coordinate_order(layout.sign_word(at, segment), count);
#if POLAR_SIMD_VBMI
    if (count == kSegmentDims) {
      segment_floats(signs, magnitudes, table, y);
    } else  // NOLINT: what follows is for all targets
#endif
    {
      alignas(32) uint8_t bytes[kSegmentDims];
#if POLAR_SIMD_AVX2 && !POLAR_SIMD_VBMI
      if (count == kSegmentDims) {
        join_segment(signs, magnitudes, fields, bytes);
      } else  // NOLINT
#endif
        join_levels(signs, magnitudes, count, bytes);
      for (int j = 0; j < count; ++j) y[j] = levels[bytes[j]];
    }
    y += count;
    magnitudes += level_magnitude_bytes(count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(split_levels_as_floats);

void decode_split_levels(const BlockLayout& layout, const RowPlace& at, const float* levels,
                         float* y) {
  HWY_DYNAMIC_DISPATCH(split_levels_as_floats)(layout, at, levels, y);
}

}  // namespace polarquant
#endif
