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

/// Levels whose signs are the block's words, or that have none: what is not 0 in a row's
/// code never leaves the registers. Magnitudes are the unsigned operand of VNNI and the query's
/// levels, with the row's signs, the signed one; levels without sign plane are biased by 128
/// instead.
class RowDots {
 public:
  HWY_ATTR RowDots(const ScanTile& tile, const ScanCodec& codec, const LevelStage& stage,
                   const ScanQuery& query)
      : tile_(tile), layout_(codec.layout()), stage_(stage), query_(query) {
    // Where a part's last register ends: whole ones are read.
    for (const LevelPart& part : stage.parts) {
      const int registers =
          part.kind == LevelPart::Kind::windows ? (part.segments() + 1) / 2 : part.segments();
      const auto bytes = static_cast<size_t>(8 * part.step_bits * (registers - 1) + 64);
      rest_bytes_ = std::max(rest_bytes_, part.codes_offset + bytes);
      if (part.signs == LevelPart::Signs::none) bias_ -= 128 * level_sum(part);
    }
  }

  HWY_ATTR void rows(uint32_t* rows, int count, int32_t* dots) const {
    for (int i = count; i % 4 != 0; ++i) rows[i] = rows[count - 1];
    const __m128i bias = _mm_set1_epi32(bias_);
    for (int i = 0; i < std::min(count, kFetchAhead); ++i)
      fetch_code(tile_, layout_, rows[i], rest_bytes_);
    for (int i = 0; i < count; i += 4) {
      for (int j = i + kFetchAhead; j < std::min(count, i + kFetchAhead + 4); ++j)
        fetch_code(tile_, layout_, rows[j], rest_bytes_);
      const __m128i four =
          sum_each(row(rows[i]), row(rows[i + 1]), row(rows[i + 2]), row(rows[i + 3]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dots + i), _mm_add_epi32(four, bias));
    }
  }

 private:
  const int8_t* levels_of(const LevelPart& part) const {
    return query_.levels.data() + static_cast<size_t>(part.first_segment) * kSegmentLanes;
  }

  HWY_ATTR int32_t level_sum(const LevelPart& part) const {
    __m512i sums = _mm512_setzero_si512();
    for (int segment = 0; segment < part.segments(); ++segment) {
      const int8_t* levels = levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes;
      sums = dot_bytes(sums, _mm512_set1_epi8(1), _mm512_load_si512(levels));
    }
    return _mm512_reduce_add_epi32(sums);
  }

  HWY_ATTR HWY_INLINE __m512i row(uint32_t row) const {
    const RowPlace at = place_of(tile_, row);
    __m512i sums = _mm512_setzero_si512();
    for (const LevelPart& part : stage_.parts) {
      if (part.kind == LevelPart::Kind::magnitudes) {
        sums = magnitudes(part, at, sums);
      } else if (part.signs == LevelPart::Signs::words) {
        sums = windows<true>(part, at, sums);
      } else {
        sums = windows<false>(part, at, sums);
      }
    }
    return sums;
  }

  template <bool kSigns>
  HWY_ATTR HWY_INLINE __m512i windows(const LevelPart& part, const RowPlace& at,
                                      __m512i sums) const {
    const WindowReader reader(part);
    const uint8_t* ring = layout_.row_rest(at) + part.codes_offset;
    const uint8_t before = bits_before_ring(ring, pairs_of(part.dim) * part.step_bits);
    const int8_t* part_levels = levels_of(part);
    const int segments = part.segments();
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bias = _mm512_set1_epi8(-128);
    for (int segment = 0; segment < segments; segment += 2) {
      const __m512i windows = reader.read(ring, segment / 2, before);
      const __m512i x = look_up(part.x, windows);
      const __m512i y = look_up(part.y, windows);
      __m512i front = _mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1);
      __m512i back = _mm512_shuffle_i64x2(x, y, 0xEE);
      const int8_t* levels = part_levels + static_cast<size_t>(segment) * kSegmentLanes;
      __m512i query_front = _mm512_load_si512(levels);
      // An odd last segment: what is loaded in the second's place does not count.
      const bool both = segment + 1 < segments;
      __m512i query_back = both ? _mm512_load_si512(levels + kSegmentLanes) : zero;
      if constexpr (kSigns) {
        const int word = part.first_segment + segment;
        query_front =
            _mm512_mask_sub_epi8(query_front, layout_.sign_word(at, word), zero, query_front);
        if (both) {
          query_back =
              _mm512_mask_sub_epi8(query_back, layout_.sign_word(at, word + 1), zero, query_back);
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

  HWY_ATTR HWY_INLINE __m512i magnitudes(const LevelPart& part, const RowPlace& at,
                                         __m512i sums) const {
    const WindowReader reader(part);
    const uint8_t* fields = layout_.row_rest(at) + part.codes_offset;
    for (int segment = 0; segment < part.segments(); ++segment) {
      const __m512i levels = look_up(part.x, reader.read_fields(fields, segment));
      const __m512i query =
          _mm512_load_si512(levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes);
      const uint64_t negative = layout_.sign_word(at, part.first_segment + segment);
      sums = dot_bytes(sums, levels,
                       _mm512_mask_sub_epi8(query, negative, _mm512_setzero_si512(), query));
    }
    return sums;
  }

  const ScanTile& tile_;
  const BlockLayout& layout_;
  const LevelStage& stage_;
  const ScanQuery& query_;
  size_t rest_bytes_ = 0;
  int32_t bias_ = 0;
};

HWY_ATTR bool dots_in_registers(const ScanTile& tile, const ScanCodec& codec,
                                const LevelStage& stage, const ScanQuery& query, uint32_t* rows,
                                int count, int32_t* dots) {
  for (const LevelPart& part : stage.parts)
    if (part.kind == LevelPart::Kind::bytes || part.signs == LevelPart::Signs::plane) return false;
  RowDots(tile, codec, stage, query).rows(rows, count, dots);
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
                   const ScanQuery& query, uint32_t* rows, int count, int8_t* scratch,
                   int32_t* dots) {
  if (HWY_DYNAMIC_DISPATCH(dots_in_registers)(tile, codec, stage, query, rows, count, dots)) return;
  const BlockLayout& layout = codec.layout();
  for (int i = 0; i < std::min(count, kFetchAhead); ++i)
    fetch_code(tile, layout, rows[i], layout.rest_bytes());
  for (int i = 0; i < count; ++i) {
    if (i + kFetchAhead < count)
      fetch_code(tile, layout, rows[i + kFetchAhead], layout.rest_bytes());
    decode_level_rows(tile, codec, stage, rows + i, 1, scratch);
    dot_level_rows(stage, query, scratch, 1, dots + i);
  }
}

}  // namespace polarquant
#endif
