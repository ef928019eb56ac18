// SPDX-License-Identifier: MIT
// From a ring of bits (codec/trellis.h) to values, 64 pairs at a time where a target can, else 8.
//
// The windows of pairs 8g … 8g+7, k bits a pair, are bytes of a 64-bit number: bits k, 2k, …, 8k of
// the eight bytes that start one byte before byte g·k of the ring. The ring's last 8 bits count as
// the byte before its first.
#if defined(POLARQUANT_WINDOW_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_WINDOW_DECODE_INL_H_
#undef POLARQUANT_WINDOW_DECODE_INL_H_
#else
#define POLARQUANT_WINDOW_DECODE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/simd/bit_fields.h"
#include "src/simd/capabilities.h"
#include "src/simd/int8_values.h"
#include "src/simd/keep_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// bits_before_ring of a ring that does not end at a byte. Out of line: it is rare, and would take
/// the registers of loops.
HWY_ATTR HWY_NOINLINE inline uint8_t bits_before_odd_ring(const uint8_t* ring, int bits) {
  if (bits >= 8) {
    const int first = bits - 8;
    const int low = ring[first / 8] >> (first % 8);
    const int high = ring[first / 8 + 1] << (8 - first % 8);
    return static_cast<uint8_t>(low | high);
  }
  int before = 0;
  for (int bit = 0; bit < 8; ++bit) {
    const int position = ((bit - 8) % bits + bits) % bits;
    before |= (ring[0] >> position & 1) << bit;
  }
  return static_cast<uint8_t>(before);
}
/// The ring's last 8 bits; a ring shorter than that goes round again.
HWY_ATTR HWY_INLINE uint8_t bits_before_ring(const uint8_t* ring, int bits) {
  return bits % 8 == 0 ? ring[bits / 8 - 1] : bits_before_odd_ring(ring, bits);
}

#if POLAR_SIMD_VBMI

HWY_ATTR HWY_INLINE __m256i load_32(const uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}
HWY_ATTR HWY_INLINE __m512i side_by_side(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Brings 64 windows of a ring, or fields of as many bits, into 64 bytes: vpermb brings each
/// eight's bytes to a 64-bit lane, vpmultishiftqb extracts them, for any number of bits.
class WindowReader {
 public:
  /// `spread` is borrowed.
  HWY_ATTR WindowReader(int step, const FieldSpread& spread) : step_(step), spread_(spread) {}

  /// Windows of pairs 64·group … 64·group+63; up to 64 bytes after the ring are read, none before
  /// it. `half`: 32 bytes hold them (Int8Part::reads_half), which touch fewer cache lines.
  HWY_ATTR HWY_INLINE __m512i read(const uint8_t* ring, int group, bool half,
                                   uint8_t before) const {
    const uint8_t* first = ring + 8 * step_ * group;
    if (step_ == 8) return load(first, half);
    if (group > 0) return extract(load(first - 1, half), _mm512_load_si512(spread_.bytes));
    // vpermb takes positions modulo 64: the byte before the ring is put at the end.
    const __m512i bytes =
        _mm512_mask_set1_epi8(load(first, half), uint64_t{1} << 63, static_cast<char>(before));
    return extract(bytes, _mm512_sub_epi8(_mm512_load_si512(spread_.bytes), _mm512_set1_epi8(1)));
  }
  /// The same, reading only the `count` bytes that belong to the windows and the one before them.
  HWY_ATTR __m512i read_exactly(const uint8_t* ring, int group, int count, uint8_t before) const {
    const uint8_t* first = ring + 8 * step_ * group;
    if (step_ == 8) return _mm512_maskz_loadu_epi8(~uint64_t{0} >> (64 - count), first);
    const uint64_t own = ~uint64_t{0} >> (64 - count) << 1;
    __m512i bytes = _mm512_maskz_loadu_epi8(group == 0 ? own : own | 1, first - 1);
    if (group == 0) bytes = _mm512_mask_set1_epi8(bytes, 1, static_cast<char>(before));
    return extract(bytes, _mm512_load_si512(spread_.bytes));
  }
  /// Fields 64·group … 64·group+63 of 4 to 7 bits (FieldSpread::set_by_halves), the bits above them
  /// 0; no other bytes are read.
  HWY_ATTR __m512i read_fields(const uint8_t* fields, int group) const {
    const uint8_t* first = fields + 8 * step_ * group;
    const __m512i bytes = side_by_side(load_32(first), load_32(first + 8 * step_ - 32));
    return _mm512_and_si512(extract(bytes, _mm512_load_si512(spread_.bytes)),
                            _mm512_set1_epi8(static_cast<char>((1 << step_) - 1)));
  }

 private:
  static HWY_ATTR HWY_INLINE __m512i load(const uint8_t* bytes, bool half) {
    return half ? _mm512_zextsi256_si512(load_32(bytes)) : _mm512_loadu_si512(bytes);
  }
  HWY_ATTR HWY_INLINE __m512i extract(__m512i bytes, __m512i positions) const {
    return _mm512_multishift_epi64_epi8(_mm512_load_si512(spread_.shifts),
                                        _mm512_permutexvar_epi8(positions, bytes));
  }

  int step_;
  const FieldSpread& spread_;
};

/// 256 bytes, in registers.
class ByteTable {
 public:
  /// `bytes`: on a 64-byte boundary.
  explicit HWY_ATTR HWY_INLINE ByteTable(const void* bytes)
      : first_(quarter(bytes, 0)),
        second_(quarter(bytes, 1)),
        third_(quarter(bytes, 2)),
        fourth_(quarter(bytes, 3)) {}

  HWY_ATTR HWY_INLINE __m512i look_up(__m512i index) const {
    const __m512i low = _mm512_permutex2var_epi8(first_, index, second_);
    const __m512i high = _mm512_permutex2var_epi8(third_, index, fourth_);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
  }

 private:
  static HWY_ATTR HWY_INLINE __m512i quarter(const void* bytes, size_t i) {
    return _mm512_load_si512(static_cast<const uint8_t*>(bytes) + 64 * i);
  }

  __m512i first_, second_, third_, fourth_;
};

/// 128 bytes, in registers, by indices whose highest bit does not count.
class MagnitudeTable {
 public:
  /// `bytes`: on a 64-byte boundary.
  explicit HWY_ATTR HWY_INLINE MagnitudeTable(const int8_t* bytes)
      : low_(_mm512_load_si512(bytes)), high_(_mm512_load_si512(bytes + 64)) {}

  HWY_ATTR HWY_INLINE __m512i look_up(__m512i index) const {
    return _mm512_permutex2var_epi8(low_, index, high_);
  }

 private:
  __m512i low_, high_;
};

HWY_ATTR HWY_INLINE __m512i look_up(const void* bytes, __m512i index) {
  return ByteTable(bytes).look_up(index);
}

#elif POLAR_SIMD_AVX2

/// How eight bytes that begin less than 8 bits apart are extracted from the 16 that begin with the
/// first one's: the two bytes that each lies in, and the factor that shifts it to the upper one.
struct ByteFields {
  alignas(16) uint8_t bytes[8][16];
  alignas(16) uint16_t factors[8][8];

  /// `skips_one`: the first begins that many bits after the first byte's start.
  constexpr explicit ByteFields(bool skips_one) : bytes(), factors() {
    for (int step = 1; step < 8; ++step) {
      for (int i = 0; i < 8; ++i) {
        const int bit = (skips_one ? step : 0) + i * step;
        bytes[step][2 * i] = static_cast<uint8_t>(bit / 8);
        bytes[step][2 * i + 1] = static_cast<uint8_t>(bit / 8 + 1);
        factors[step][i] = static_cast<uint16_t>(256 >> bit % 8);
      }
    }
  }
};
inline constexpr ByteFields kWindowFields(true);
inline constexpr ByteFields kPlainFields(false);

HWY_ATTR HWY_INLINE __m256i extract_fields(__m256i bytes, __m256i places, __m256i factors) {
  return _mm256_srli_epi16(_mm256_mullo_epi16(_mm256_shuffle_epi8(bytes, places), factors), 8);
}
HWY_ATTR HWY_INLINE __m256i both_halves(const void* sixteen) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(static_cast<const __m128i*>(sixteen)));
}

/// The 32 windows of a segment.
class SegmentWindows {
 public:
  explicit HWY_ATTR HWY_INLINE SegmentWindows(int step) : step_(step) {
    if (step == 8) return;
    first_bytes_ = both_halves(kWindowFields.bytes[step]);
    next_bytes_ = _mm256_add_epi8(first_bytes_, _mm256_set1_epi8(static_cast<char>(step)));
    factors_ = both_halves(kWindowFields.factors[step]);
  }

  /// The windows of a full segment; reads up to 29 bytes from its first on, and the one before.
  HWY_ATTR HWY_INLINE __m256i read(const uint8_t* ring, int segment, uint8_t before) const {
    const uint8_t* first = ring + 4 * step_ * segment;
    const auto load = [](const uint8_t* at) HWY_ATTR {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    };
    if (step_ == 8) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
    const __m128i low =
        segment == 0 ? _mm_insert_epi8(_mm_slli_si128(load(first), 1), before, 0) : load(first - 1);
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(low), load(first + 2 * step_ - 1), 1);
    // Each 16 bytes hold the first eight windows and the next.
    return _mm256_packus_epi16(extract_fields(bytes, first_bytes_, factors_),
                               extract_fields(bytes, next_bytes_, factors_));
  }

 private:
  int step_;
  __m256i first_bytes_, next_bytes_, factors_;
};

/// The 32 fields of half a segment, 4 to 7 bits each.
class HalfSegmentFields {
 public:
  explicit HWY_ATTR HWY_INLINE HalfSegmentFields(int bits) : bits_(bits) {
    // The last 16 bytes are read, so that nothing after them is.
    const auto upper_shift = static_cast<char>(16 - 2 * bits);
    const __m256i upper_offset =
        _mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(upper_shift), 1);
    first_bytes_ = _mm256_add_epi8(both_halves(kPlainFields.bytes[bits]), upper_offset);
    next_bytes_ = _mm256_add_epi8(first_bytes_, _mm256_set1_epi8(static_cast<char>(bits)));
    factors_ = both_halves(kPlainFields.factors[bits]);
    mask_ = _mm256_set1_epi8(static_cast<char>((1 << bits) - 1));
  }

  HWY_ATTR HWY_INLINE __m256i read(const uint8_t* fields) const {
    const auto load = [](const uint8_t* at) HWY_ATTR {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    };
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(load(fields)),
                                                  load(fields + 4 * bits_ - 16), 1);
    return _mm256_and_si256(_mm256_packus_epi16(extract_fields(bytes, first_bytes_, factors_),
                                                extract_fields(bytes, next_bytes_, factors_)),
                            mask_);
  }

 private:
  int bits_;
  __m256i first_bytes_, next_bytes_, factors_, mask_;
};

/// Looks up a segment's 64 indices in a table of `entries` bytes, a multiple of 16: sixteen entries
/// at a time, of which an index of others finds 0.
HWY_ATTR HWY_INLINE void look_up_both(const int8_t* table, int entries, __m256i (&halves)[2]) {
  const __m256i sixteen = _mm256_set1_epi8(16);
  const __m256i most = _mm256_set1_epi8(0x70);
  __m256i found[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
#pragma GCC unroll 4
  for (int first = 0; first < entries; first += 16) {
    const __m256i values = both_halves(table + first);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      // 16 and more become 128 and more.
      const __m256i here = _mm256_adds_epu8(halves[half], most);
      found[half] = _mm256_or_si256(found[half], _mm256_shuffle_epi8(values, here));
      halves[half] = _mm256_sub_epi8(halves[half], sixteen);
    }
  }
  halves[0] = found[0];
  halves[1] = found[1];
}

/// Entries of two tables of 256 bytes for the same indices.
struct TwoBytes {
  __m256i x;
  __m256i y;
};
/// Windows are looked up together, which is faster than one by one.
HWY_ATTR HWY_INLINE TwoBytes look_up(const int8_t* x, const int8_t* y, __m256i indices) {
  const __m256i sixteen = _mm256_set1_epi8(16);
  const __m256i most = _mm256_set1_epi8(0x70);
  __m256i found_x = _mm256_setzero_si256();
  __m256i found_y = found_x;
#pragma GCC unroll 16
  for (int first = 0; first < 256; first += 16) {
    // 16 and more become 128 and more.
    const __m256i here = _mm256_adds_epu8(indices, most);
    found_x =
        keep_order(_mm256_or_si256(found_x, _mm256_shuffle_epi8(both_halves(x + first), here)));
    found_y =
        keep_order(_mm256_or_si256(found_y, _mm256_shuffle_epi8(both_halves(y + first), here)));
    indices = keep_order(_mm256_sub_epi8(indices, sixteen));
  }
  return {found_x, found_y};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // POLARQUANT_WINDOW_DECODE_INL_H_
