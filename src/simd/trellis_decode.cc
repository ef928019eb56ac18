// SPDX-License-Identifier: MIT
#include "src/simd/trellis_decode.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/simd/trellis_decode.cc"
#include "src/simd/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/simd/capabilities.h"
#include "src/simd/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if POLAR_SIMD_VBMI

/// 64 floats as four registers in order.
struct Floats64 {
  __m512i part[4];
};

/// The cells' floats of 64 windows, one byte of all at a time. Bytes are brought together inside
/// 128-bit lanes: windows must come in the order of `kLaneOrder`.
HWY_ATTR HWY_INLINE Floats64 look_up_floats(const uint8_t (&bytes)[4][kCells], __m512i windows) {
  const __m512i b0 = look_up(bytes[0], windows);
  const __m512i b1 = look_up(bytes[1], windows);
  const __m512i b2 = look_up(bytes[2], windows);
  const __m512i b3 = look_up(bytes[3], windows);
  const __m512i low01 = _mm512_unpacklo_epi8(b0, b1);
  const __m512i high01 = _mm512_unpackhi_epi8(b0, b1);
  const __m512i low23 = _mm512_unpacklo_epi8(b2, b3);
  const __m512i high23 = _mm512_unpackhi_epi8(b2, b3);
  return {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
          _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
}

/// Stores 32 floats; bit i of `signs` negates float i.
HWY_ATTR HWY_INLINE void store_signed(__m512i sketch, __m512i back, uint32_t signs, float* u) {
  const __m512i sign_bit = _mm512_set1_epi32(INT32_MIN);
  sketch = _mm512_mask_xor_epi32(sketch, static_cast<__mmask16>(signs), sketch, sign_bit);
  back = _mm512_mask_xor_epi32(back, static_cast<__mmask16>(signs >> 16), back, sign_bit);
  _mm512_storeu_si512(u, sketch);
  _mm512_storeu_si512(u + 16, back);
}

/// Byte 16·lane + 4·part + i stands for window 16·part + 4·lane + i.
struct LaneOrder {
  constexpr LaneOrder() {
    for (int lane = 0; lane < 4; ++lane) {
      for (int part = 0; part < 4; ++part) {
        for (int i = 0; i < 4; ++i)
          window[16 * lane + 4 * part + i] = static_cast<uint8_t>(16 * part + 4 * lane + i);
      }
    }
  }
  alignas(64) uint8_t window[64] = {};
};
constexpr LaneOrder kLaneOrder;

/// How windows of each step lie: a trained code's row has up to one step for each of its segments.
struct WindowSpreads {
  constexpr WindowSpreads() {
    for (int step = 1; step <= 8; ++step) spreads[step].set(step, step);
  }
  FieldSpread spreads[9];
};
constexpr WindowSpreads kWindowSpreads;

// Two segments, 64 pairs, at a time: in registers from the ring's bytes to the floats.
HWY_ATTR int decode_segments(const CellBytes& cells, int step, const TrellisCode& code, float* u) {
  const int segments = code.dim / kSegmentDims;
  if (segments == 0) return 0;
  const WindowReader reader(step, kWindowSpreads.spreads[step]);
  const uint8_t before = bits_before_ring(code.ring, (code.dim + 1) / 2 * step);
  const __m512i order = _mm512_load_si512(kLaneOrder.window);
  for (int segment = 0; segment < segments; segment += 2) {
    const int together = segment + 1 < segments ? 2 : 1;
    const __m512i windows = _mm512_permutexvar_epi8(
        order, reader.read_exactly(code.ring, segment / 2, 4 * step * together, before));
    const Floats64 x = look_up_floats(cells.x, windows);
    const Floats64 y = look_up_floats(cells.y, windows);
    for (int i = 0; i < together; ++i) {
      uint64_t signs = 0;
      if (code.signs != nullptr)
        std::memcpy(&signs, code.signs + static_cast<ptrdiff_t>(segment + i) * 8, sizeof signs);
      float* out = u + static_cast<ptrdiff_t>(segment + i) * kSegmentDims;
      store_signed(x.part[2 * i], x.part[2 * i + 1], static_cast<uint32_t>(signs), out);
      store_signed(y.part[2 * i], y.part[2 * i + 1], static_cast<uint32_t>(signs >> 32), out + 32);
    }
  }
  return segments * kSegmentDims;
}

DecodeSegments decode_segments_kernel() { return decode_segments; }

#else

DecodeSegments decode_segments_kernel() { return TrellisKernels().decode_segments; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(decode_segments_kernel);

DecodeSegments simd_decode_segments() { return HWY_DYNAMIC_DISPATCH(decode_segments_kernel)(); }

}  // namespace polarquant
#endif
