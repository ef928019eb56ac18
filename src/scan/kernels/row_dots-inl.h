// SPDX-License-Identifier: MIT
// Dot products of rows with a query, for kernels' AVX3_DL forms: levels whose signs are the block's
// words, or that have none. What is not 0 in a row's code never leaves the registers. Magnitudes
// are the unsigned operand of VNNI and the query's levels, with the row's signs, the signed one;
// levels without sign plane are biased by 128 instead.
#if defined(POLARQUANT_ROW_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_ROW_DOTS_INL_H_
#undef POLARQUANT_ROW_DOTS_INL_H_
#else
#define POLARQUANT_ROW_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "src/scan/kernels/dot_bytes-inl.h"
#include "src/scan/kernels/row_parts-inl.h"
#include "src/scan/kernels/window_decode-inl.h"
#include "src/scan/scan_query.h"

#if HWY_TARGET == HWY_AVX3_DL
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// Whether RowDots can take a stage.
inline bool fits_row_dots(const LevelStage& stage) {
  return std::none_of(stage.parts.begin(), stage.parts.end(),
                      [](const LevelPart& part) { return part.signs == LevelPart::Signs::plane; });
}

class RowDots {
 public:
  HWY_ATTR RowDots(const BlockLayout& layout, const LevelStage& stage, const ScanQuery& query)
      : layout_(layout), stage_(stage), query_(query) {
    for (const LevelPart& part : stage.parts) {
      if (part.signs == LevelPart::Signs::none) bias_ -= 128 * level_sum(part);
    }
  }

  HWY_ATTR HWY_INLINE __m128i four(const RowParts (&at)[4]) const {
    RowSums<4, false> sums;
    add_rows(at, sums);
    return dots_of(sums);
  }
  /// And the rows' Σ level².
  HWY_ATTR HWY_INLINE __m128i four(const RowParts (&at)[4], __m128i* energies) const {
    RowSums<4, true> sums;
    add_rows(at, sums);
    *energies = sum_each(sums.energies[0], sums.energies[1], sums.energies[2], sums.energies[3]);
    return dots_of(sums);
  }

  HWY_ATTR HWY_INLINE int32_t one(const RowParts& at) const {
    const RowParts places[1] = {at};
    RowSums<1, false> sums;
    add_rows(places, sums);
    return bias_ + _mm512_reduce_add_epi32(sums.dots[0]);
  }

 private:
  /// Registers whose lanes add up to the rows' dot products less the bias, and to their Σ level².
  template <int kRows, bool kEnergies>
  struct RowSums {
    __m512i dots[kRows] = {};
    __m512i energies[kEnergies ? kRows : 1] = {};

    HWY_ATTR HWY_INLINE void add(int row, __m512i unsigned_bytes, __m512i signed_bytes) {
      dots[row] = dot_bytes(dots[row], unsigned_bytes, signed_bytes);
    }
    template <bool kAreMagnitudes>
    HWY_ATTR HWY_INLINE void add_energy(int row, __m512i levels) {
      if constexpr (kEnergies) {
        const __m512i magnitudes = kAreMagnitudes ? levels : _mm512_abs_epi8(levels);
        energies[row] = dot_bytes(energies[row], magnitudes, magnitudes);
      }
    }
  };

  template <bool kEnergies>
  HWY_ATTR HWY_INLINE __m128i dots_of(const RowSums<4, kEnergies>& sums) const {
    return _mm_add_epi32(_mm_set1_epi32(bias_),
                         sum_each(sums.dots[0], sums.dots[1], sums.dots[2], sums.dots[3]));
  }

  /// Part by part, so that tables and the query's levels are loaded once for all rows.
  template <int kRows, bool kEnergies>
  HWY_ATTR HWY_INLINE void add_rows(const RowParts (&at)[kRows],
                                    RowSums<kRows, kEnergies>& sums) const {
    for (const LevelPart& part : stage_.parts) {
      if (part.kind == LevelPart::Kind::magnitudes) {
        magnitudes(part, at, sums);
      } else if (part.kind == LevelPart::Kind::bytes) {
        bytes(part, at, sums);
      } else if (part.signs == LevelPart::Signs::words) {
        windows<true>(part, at, sums);
      } else {
        windows<false>(part, at, sums);
      }
    }
  }

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

  template <bool kSigns, int kRows, bool kEnergies>
  HWY_ATTR HWY_INLINE void windows(const LevelPart& part, const RowParts (&at)[kRows],
                                   RowSums<kRows, kEnergies>& sums) const {
    const WindowReader reader(part);
    const int bits = pairs_of(part.dim) * part.step_bits;
    const bool whole_bytes = bits % 8 == 0;
    const int8_t* part_levels = levels_of(part);
    const int segments = part.segments();
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bias = _mm512_set1_epi8(-128);
    for (int segment = 0; segment < segments; segment += 2) {
      const int8_t* levels = part_levels + static_cast<size_t>(segment) * kSegmentLanes;
      const bool both = segment + 1 < segments;
      if constexpr (kRows % 2 == 0) {
        if (!both && whole_bytes && part.step_bits < 8) {
          last_windows<kSigns>(part, at, sums);
          return;
        }
      }
      // An odd last segment: what is loaded in the second's place does not count.
      const bool half = part.reads_half(segment / 2);
      const __m512i query_front = _mm512_load_si512(levels);
      const __m512i query_back = both ? _mm512_load_si512(levels + kSegmentLanes) : zero;
      const WordOfRows front_signs(layout_, part.first_segment + segment);
      const WordOfRows back_signs(layout_, part.first_segment + segment + 1);
#pragma GCC unroll 4
      for (int j = 0; j < kRows; ++j) {
        const uint8_t* ring = at[j].rest + part.codes_offset;
        const uint8_t before = segment > 0   ? 0
                               : whole_bytes ? ring[bits / 8 - 1]
                                             : bits_before_ring(ring, bits);
        const __m512i windows = reader.read(ring, segment / 2, half, before);
        const __m512i x = look_up(part.x, windows);
        const __m512i y = look_up(part.y, windows);
        __m512i front = _mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1);
        __m512i back = _mm512_shuffle_i64x2(x, y, 0xEE);
        sums.template add_energy<kSigns>(j, front);
        if (both) sums.template add_energy<kSigns>(j, back);
        __m512i signed_front = query_front;
        __m512i signed_back = query_back;
        if constexpr (kSigns) {
          signed_front =
              _mm512_mask_sub_epi8(query_front, front_signs.of(at[j]), zero, query_front);
          if (both)
            signed_back = _mm512_mask_sub_epi8(query_back, back_signs.of(at[j]), zero, query_back);
        } else {
          front = _mm512_xor_si512(front, bias);
          back = _mm512_xor_si512(back, bias);
        }
        sums.add(j, front, signed_front);
        if (both) sums.add(j, back, signed_back);
      }
    }
  }

  /// An odd last segment: the windows of two rows fill a register.
  template <bool kSigns, int kRows, bool kEnergies>
  HWY_ATTR HWY_INLINE void last_windows(const LevelPart& part, const RowParts (&at)[kRows],
                                        RowSums<kRows, kEnergies>& sums) const {
    const int segment = part.segments() - 1;
    const int ring_bytes = pairs_of(part.dim) * part.step_bits / 8;
    // Of a ring that begins here, the byte before it is its last.
    const bool begins = segment == 0;
    const uint8_t* const positions = part.fields.bytes;
    __m512i low = _mm512_load_si512(positions);
    if (begins) {
      low = _mm512_mask_set1_epi8(_mm512_sub_epi8(low, _mm512_set1_epi8(1)), 1,
                                  static_cast<char>(ring_bytes - 1));
    }
    const __m512i of_both = _mm512_inserti64x4(
        low, _mm256_add_epi8(_mm512_castsi512_si256(low), _mm256_set1_epi8(32)), 1);
    const __m512i shifts = _mm512_broadcast_i64x4(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(part.fields.shifts)));
    const auto load = [&](const RowParts& row) HWY_ATTR {
      const uint8_t* windows =
          row.rest + part.codes_offset + segment / 2 * 8 * part.step_bits - (begins ? 0 : 1);
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(windows));
    };
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bias = _mm512_set1_epi8(-128);
    const __m512i query =
        _mm512_load_si512(levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes);
    const WordOfRows signs(layout_, part.first_segment + segment);
    // In registers for all rows.
    const ByteTable table_x(part.x);
    const ByteTable table_y(part.y);
#pragma GCC unroll 2
    for (int j = 0; j < kRows; j += 2) {
      const __m512i bytes =
          _mm512_inserti64x4(_mm512_castsi256_si512(load(at[j])), load(at[j + 1]), 1);
      const __m512i windows =
          _mm512_multishift_epi64_epi8(shifts, _mm512_permutexvar_epi8(of_both, bytes));
      const __m512i x = table_x.look_up(windows);
      const __m512i y = table_y.look_up(windows);
      const __m512i levels[2] = {_mm512_inserti64x4(x, _mm512_castsi512_si256(y), 1),
                                 _mm512_shuffle_i64x2(x, y, 0xEE)};
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        sums.template add_energy<kSigns>(j + i, levels[i]);
        if constexpr (kSigns) {
          sums.add(j + i, levels[i], _mm512_mask_sub_epi8(query, signs.of(at[j + i]), zero, query));
        } else {
          sums.add(j + i, _mm512_xor_si512(levels[i], bias), query);
        }
      }
    }
  }

  template <int kRows, bool kEnergies>
  HWY_ATTR HWY_INLINE void magnitudes(const LevelPart& part, const RowParts (&at)[kRows],
                                      RowSums<kRows, kEnergies>& sums) const {
    const WindowReader reader(part);
    // One register holds the levels of up to six bits.
    const bool small = part.step_bits <= 6;
    const __m512i table = _mm512_load_si512(part.x);
    for (int segment = 0; segment < part.segments(); ++segment) {
      const __m512i query =
          _mm512_load_si512(levels_of(part) + static_cast<size_t>(segment) * kSegmentLanes);
      const WordOfRows signs(layout_, part.first_segment + segment);
#pragma GCC unroll 4
      for (int j = 0; j < kRows; ++j) {
        const uint8_t* fields = at[j].rest + part.codes_offset;
        const __m512i index = reader.read_fields(fields, segment);
        const __m512i levels =
            small ? _mm512_permutexvar_epi8(index, table) : look_up(part.x, index);
        sums.template add_energy<true>(j, levels);
        sums.add(j, levels,
                 _mm512_mask_sub_epi8(query, signs.of(at[j]), _mm512_setzero_si512(), query));
      }
    }
  }

  template <int kRows, bool kEnergies>
  HWY_ATTR HWY_INLINE void bytes(const LevelPart& part, const RowParts (&at)[kRows],
                                 RowSums<kRows, kEnergies>& sums) const {
    const int8_t* query = levels_of(part);
    const __m512i bias = _mm512_set1_epi8(-128);
    for (int first = 0; first < part.dim; first += kSegmentLanes) {
      const int left = part.dim - first;
#pragma GCC unroll 4
      for (int j = 0; j < kRows; ++j) {
        const uint8_t* codes = at[j].rest + part.codes_offset + first;
        const __m512i indices =
            left >= kSegmentLanes ? _mm512_loadu_si512(codes) : halves(codes, left);
        const __m512i levels = look_up(part.x, indices);
        sums.template add_energy<false>(j, levels);
        sums.add(j, _mm512_xor_si512(levels, bias), _mm512_load_si512(query + first));
      }
    }
  }

  /// A last segment of n bytes as lanes: its two halves, each from the start of half a register.
  HWY_ATTR HWY_INLINE static __m512i halves(const uint8_t* codes, int n) {
    const int front = (n + 1) / 2;
    const __m256i x = _mm256_maskz_loadu_epi8(first_lanes(front), codes);
    const __m256i y = _mm256_maskz_loadu_epi8(first_lanes(n - front), codes + front);
    return _mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1);
  }
  static __mmask32 first_lanes(int n) { return static_cast<__mmask32>((uint64_t{1} << n) - 1); }

  const BlockLayout& layout_;
  const LevelStage& stage_;
  const ScanQuery& query_;
  int32_t bias_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // POLARQUANT_ROW_DOTS_INL_H_
