// SPDX-License-Identifier: MIT
// Values of a segment of two rows, or of two segments of a row, for kernels' AVX3_DL forms: one
// register has the first coordinates of both's 32 pairs side by side, another the second ones.
//
// 32 bytes hold a segment's windows, and the fields of half a segment. Where they would end after
// what is read of a row, they begin earlier: a further cache line, which nobody has fetched, would
// have to be waited for (docs/dev/tuning.md, "Kernels").
#if defined(POLARQUANT_PAIR_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_PAIR_VALUES_INL_H_
#undef POLARQUANT_PAIR_VALUES_INL_H_
#else
#define POLARQUANT_PAIR_VALUES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "src/scan/kernels/decode/row_parts-inl.h"
#include "src/scan/model/scan_codec.h"
#include "src/simd/capabilities.h"
#include "src/simd/window_decode-inl.h"

#if POLAR_SIMD_VBMI
HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// The segments of a pair: those of two rows, or two of one.
struct SegmentPair {
  int low;
  int high;
};

/// 64 values each.
struct PairInt8 {
  __m512i x;  // first coordinates
  __m512i y;
};

/// 32 bytes of a row's payload, and where in them the wanted ones lie.
struct HalfRegister {
  size_t offset;  // from the start of the payload
  __m256i positions;

  HWY_ATTR HWY_INLINE __m256i load(const RowParts& row) const {
    return load_32(row.payload + offset);
  }
};

/// The bytes from `start` on, or the last ones before `end`. Positions beyond do not count.
HWY_ATTR HWY_INLINE HalfRegister half_before(size_t end, size_t start, __m256i positions) {
  constexpr size_t kBytes = 32;
  const size_t offset = std::min(start, std::max(end, kBytes) - kBytes);
  const __m256i shifted =
      _mm256_add_epi8(positions, _mm256_set1_epi8(static_cast<char>(start - offset)));
  return {offset, _mm256_min_epu8(shifted, _mm256_set1_epi8(kBytes - 1))};
}

/// Extracts fields by positions and shifts that FieldSpread has for half a register, for both rows.
class HalfFields {
 public:
  HWY_ATTR HWY_INLINE HalfFields(const HalfRegister& low, const HalfRegister& high, __m512i shifts)
      : positions_(
            side_by_side(low.positions, _mm256_add_epi8(high.positions, _mm256_set1_epi8(32)))),
        shifts_(shifts) {}
  HWY_ATTR HWY_INLINE __m512i fields(__m256i low, __m256i high) const {
    return _mm512_multishift_epi64_epi8(
        shifts_, _mm512_permutexvar_epi8(positions_, side_by_side(low, high)));
  }

 private:
  __m512i positions_, shifts_;
};

HWY_ATTR HWY_INLINE __m512i shifts_of(const Int8Part& part) {
  return _mm512_load_si512(part.fields.shifts);
}
HWY_ATTR HWY_INLINE __m256i first_positions(const Int8Part& part) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(part.fields.bytes));
}

class PairWindows {
 public:
  struct Tables {
    ByteTable x, y;
    explicit HWY_ATTR HWY_INLINE Tables(const Int8Part& part) : x(part.x), y(part.y) {}
  };

  HWY_ATTR HWY_INLINE PairWindows(const BlockLayout& layout, const Int8Part& part,
                                  SegmentPair segments)
      : codes_offset_(part.codes_offset),
        bits_(pairs_of(part.dim) * part.step_bits),
        low_(layout, part, segments.low),
        high_(layout, part, segments.high),
        fields_(low_.bytes, high_.bytes, shifts_of_windows(part)) {}

  HWY_ATTR HWY_INLINE PairInt8 values(const Tables& tables, const RowParts& low,
                                      const RowParts& high) const {
    const __m512i windows = fields_.fields(load(low_, low), load(high_, high));
    return {tables.x.look_up(windows), tables.y.look_up(windows)};
  }

 private:
  /// Bytes of a segment's windows, which begin one before the windows' own.
  struct SegmentBytes {
    HalfRegister bytes;
    bool takes_before;  // a ring begins here: the byte before it comes last

    HWY_ATTR HWY_INLINE SegmentBytes(const BlockLayout& layout, const Int8Part& part, int segment)
        : takes_before(false) {
      const __m256i positions = first_positions(part);
      const size_t start = part.codes_offset + static_cast<size_t>(4 * part.step_bits * segment);
      if (part.step_bits == 8) {
        bytes = half_before(layout.payload_bytes(), start, positions);
      } else if (segment > 0) {
        bytes = half_before(layout.payload_bytes(), start - 1, positions);
      } else {
        // The byte before a ring is its last 8 bits: one of the loaded bytes, or put at the end.
        const int bits = pairs_of(part.dim) * part.step_bits;
        takes_before = bits % 8 != 0 || bits > 256;
        const int before = takes_before ? 31 : bits / 8 - 1;
        const __m256i from_ring = _mm256_mask_set1_epi8(
            _mm256_sub_epi8(positions, _mm256_set1_epi8(1)), 1, static_cast<char>(before));
        bytes = takes_before ? HalfRegister{start, from_ring}
                             : half_before(layout.payload_bytes(), start, from_ring);
      }
    }
  };

  // Windows of 8 bits are their own bytes.
  static HWY_ATTR HWY_INLINE __m512i shifts_of_windows(const Int8Part& part) {
    const char less = part.step_bits == 8 ? 8 : 0;
    return _mm512_sub_epi8(shifts_of(part), _mm512_set1_epi8(less));
  }

  HWY_ATTR HWY_INLINE __m256i load(const SegmentBytes& segment, const RowParts& row) const {
    const __m256i bytes = segment.bytes.load(row);
    if (!segment.takes_before) return bytes;
    const uint8_t before = bits_before_ring(row.payload + codes_offset_, bits_);
    return _mm256_mask_set1_epi8(bytes, uint32_t{1} << 31, static_cast<char>(before));
  }

  size_t codes_offset_;
  int bits_;
  SegmentBytes low_, high_;
  HalfFields fields_;
};

class PairMagnitudes {
 public:
  /// Indices have 7 bits: tables repeat after their last entry (Int8Part::make_tables).
  struct Tables {
    MagnitudeTable x;
    explicit HWY_ATTR HWY_INLINE Tables(const Int8Part& part) : x(part.x) {}
  };

  HWY_ATTR HWY_INLINE PairMagnitudes(const BlockLayout& layout, const Int8Part& part,
                                     SegmentPair segments)
      : low_(layout, part, segments.low),
        high_(layout, part, segments.high),
        fields_x_(low_.x, high_.x, shifts_of(part)),
        fields_y_(low_.y, high_.y,
                  _mm512_add_epi8(shifts_of(part), side_by_side(low_.y_bit, high_.y_bit))) {}

  HWY_ATTR HWY_INLINE PairInt8 values(const Tables& tables, const RowParts& low,
                                      const RowParts& high) const {
    return {tables.x.look_up(fields_x_.fields(low_.x.load(low), high_.x.load(high))),
            tables.x.look_up(fields_y_.fields(low_.y.load(low), high_.y.load(high)))};
  }

 private:
  /// Fields of 4 to 7 bits: 32 of them are 16 to 28 bytes.
  struct SegmentBytes {
    HalfRegister x, y;
    __m256i y_bit;  // of its first byte, where the second coordinates begin

    HWY_ATTR HWY_INLINE SegmentBytes(const BlockLayout& layout, const Int8Part& part, int segment) {
      const auto bits = static_cast<size_t>(part.step_bits);
      const int count = segment_dims(part.dim, segment);
      const size_t start = part.codes_offset + static_cast<size_t>(8 * segment) * bits;
      const size_t first_bits = static_cast<size_t>((count + 1) / 2) * bits;
      const size_t end = count == kSegmentDims ? start + 8 * bits : layout.payload_bytes();
      x = half_before(end, start, first_positions(part));
      y = half_before(end, start + first_bits / 8, first_positions(part));
      y_bit = _mm256_set1_epi8(static_cast<char>(first_bits % 8));
    }
  };

  SegmentBytes low_, high_;
  HalfFields fields_x_, fields_y_;
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();
#endif

#endif  // POLARQUANT_PAIR_VALUES_INL_H_
