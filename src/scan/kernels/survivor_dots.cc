// SPDX-License-Identifier: MIT
#include "src/scan/kernels/survivor_dots.h"

#include <algorithm>
#include <cstring>

#include "src/scan/kernels/level_rows.h"
#include "src/scan/row_levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/scan/kernels/survivor_dots.cc"
#include "src/scan/kernels/targets.h"  // before highway
//
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/kernels/window_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL

/// Narrow windows whose signs are the block's words, or that have none: what is not 0 in a row's
/// code never leaves the registers. Magnitudes are the unsigned operand of VNNI and the query's
/// levels, with the row's signs, the signed one; levels without sign plane are biased by 128
/// instead.
class WindowDots {
 public:
  HWY_ATTR WindowDots(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                      const ScanQuery& query)
      : tile_(tile),
        layout_(codec.layout()),
        stage_(stage),
        query_(query),
        reader_(stage.window_step),
        segments_(codec.lanes() / kSegmentLanes),
        ring_bits_(pairs_of(codec.dim()) * stage.window_step) {}

  template <bool kSigns>
  HWY_ATTR __m512i row(uint32_t row) const {
    const RowPlace at = place_of(tile_, row);
    const uint8_t* ring = layout_.row_rest(at) + stage_.codes_offset;
    const uint8_t before = bits_before_ring(ring, ring_bits_);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bias = _mm512_set1_epi8(-128);
    __m512i sums = zero;
    for (int segment = 0; segment < segments_; segment += 2) {
      const __m512i windows = reader_.read(ring, segment / 2, before);
      const __m512i x = look_up(stage_.x_bytes[0], windows);
      const __m512i y = look_up(stage_.y_bytes[0], windows);
      __m512i front = _mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1);
      __m512i back = _mm512_shuffle_i64x2(x, y, 0xEE);
      const int8_t* levels = query_.levels.data() + static_cast<size_t>(segment) * kSegmentLanes;
      __m512i query_front = _mm512_load_si512(levels);
      // An odd last segment: what is loaded in the second's place does not count.
      const bool both = segment + 1 < segments_;
      __m512i query_back = both ? _mm512_load_si512(levels + kSegmentLanes) : zero;
      if constexpr (kSigns) {
        query_front =
            _mm512_mask_sub_epi8(query_front, layout_.sign_word(at, segment), zero, query_front);
        if (both) {
          query_back = _mm512_mask_sub_epi8(query_back, layout_.sign_word(at, segment + 1), zero,
                                            query_back);
        }
      } else {
        front = _mm512_xor_si512(front, bias);
        back = _mm512_xor_si512(back, bias);
      }
      sums = dot_bytes(sums, front, query_front);
      sums = dot_bytes(sums, back, query_back);
    }
    return sums;
  }

  template <bool kSigns>
  HWY_ATTR void rows(uint32_t* rows, int count, int32_t* dots) const {
    for (int i = count; i % 4 != 0; ++i) rows[i] = rows[count - 1];
    const __m128i bias = _mm_set1_epi32(kSigns ? 0 : -128 * query_.level_sum);
    // Whole registers are read, which end in the next row's rest.
    const size_t rest_bytes = stage_.codes_offset + reader_.bytes_read((segments_ + 1) / 2);
    for (int i = 0; i < std::min(count, kFetchAhead); ++i)
      fetch_code(tile_, layout_, rows[i], rest_bytes);
    for (int i = 0; i < count; i += 4) {
      for (int j = i + kFetchAhead; j < std::min(count, i + kFetchAhead + 4); ++j)
        fetch_code(tile_, layout_, rows[j], rest_bytes);
      const __m128i four = sum_each(row<kSigns>(rows[i]), row<kSigns>(rows[i + 1]),
                                    row<kSigns>(rows[i + 2]), row<kSigns>(rows[i + 3]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + i), _mm_add_epi32(four, bias));
    }
  }

 private:
  const ScanTile& tile_;
  const BlockLayout& layout_;
  const LevelStage& stage_;
  const ScanQuery& query_;
  WindowReader reader_;
  int segments_;
  int ring_bits_;
};

HWY_ATTR bool dots_in_registers(const ScanTile& tile, const ScanCodec& codec,
                                const LevelStage& stage, const ScanQuery& query, uint32_t* rows,
                                int count, int32_t* dots) {
  if (codec.wide() || stage.kind != LevelStage::Kind::windows) return false;
  if (stage.signs == LevelStage::Signs::plane) return false;
  const WindowDots window_dots(tile, codec, stage, query);
  if (stage.signs == LevelStage::Signs::words) {
    window_dots.rows<true>(rows, count, dots);
  } else {
    window_dots.rows<false>(rows, count, dots);
  }
  return true;
}

#else

HWY_ATTR bool dots_in_registers(const ScanTile&, const ScanCodec&, const LevelStage&,
                                const ScanQuery&, uint32_t*, int, int32_t*) {
  return false;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polarquant {

HWY_EXPORT(dots_in_registers);

void survivor_dots(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                   const ScanQuery& query, uint32_t* rows, int count, int16_t* scratch,
                   int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(dots_in_registers)(tile, codec, stage, query, rows, count, dots)) return;
  const BlockLayout& layout = codec.layout();
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_code(tile, layout, rows[i], layout.rest_bytes());
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count)
      fetch_code(tile, layout, rows[i + kFetchAhead], layout.rest_bytes());
    if (codec.wide()) {
      decode_level_rows(tile, codec, stage, rows + i, 1, scratch);
      dot_level_rows(codec, query, scratch, 1, dots + i);
    } else {
      auto* narrow = reinterpret_cast<int8_t*>(scratch);
      decode_level_rows(tile, codec, stage, rows + i, 1, narrow);
      dot_level_rows(codec, query, narrow, 1, dots + i);
    }
  }
}

}  // namespace polarquant
#endif
