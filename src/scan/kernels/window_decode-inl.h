// SPDX-License-Identifier: MIT
// From a ring of bits (codec/trellis.h) to levels, 64 pairs at a time where a target can, else 8.
//
// The windows of pairs 8g … 8g+7, k bits a pair, are bytes of a 64-bit number: bits k, 2k, …, 8k of
// the eight bytes that start one byte before byte g·k of the ring. Before the ring's first byte
// stands, in effect, its last 8 bits.
#if defined(POLARQUANT_WINDOW_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_WINDOW_DECODE_INL_H_
#undef POLARQUANT_WINDOW_DECODE_INL_H_
#else
#define POLARQUANT_WINDOW_DECODE_INL_H_
#endif

#include <hwy/highway.h>

#include "src/scan/scan_codec.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// The ring's last 8 bits; a ring shorter than that goes round again.
HWY_ATTR inline uint8_t bits_before_ring(const uint8_t* ring, int bits) {
  if (bits >= 8) {
    const int first = bits - 8;
    const int low = ring[first / 8] >> (first % 8);
    const int high = first % 8 == 0 ? 0 : ring[first / 8 + 1] << (8 - first % 8);
    return static_cast<uint8_t>(low | high);
  }
  int before = 0;
  for (int bit = 0; bit < 8; ++bit) {
    const int position = ((bit - 8) % bits + bits) % bits;
    before |= (ring[0] >> position & 1) << bit;
  }
  return static_cast<uint8_t>(before);
}

#if HWY_TARGET == HWY_AVX3_DL

/// What brings 64 windows of a ring, or fields of as many bits, into 64 bytes: vpermb brings each
/// eight's bytes to a 64-bit lane, vpmultishiftqb cuts them, for any number of bits.
class WindowReader {
 public:
  /// `spread` is borrowed.
  HWY_ATTR WindowReader(int step, const FieldSpread& spread) : step_(step), spread_(spread) {}
  HWY_ATTR explicit WindowReader(const LevelPart& part)
      : WindowReader(part.step_bits, part.fields) {}

  /// Windows of pairs 64·group … 64·group+63; up to 64 bytes behind the ring are read, none before
  /// it. `half`: 32 bytes hold them (LevelPart::reads_half), which touch fewer cache lines.
  HWY_ATTR HWY_INLINE __m512i read(const uint8_t* ring, int group, bool half,
                                   uint8_t before) const {
    const uint8_t* first = ring + 8 * step_ * group;
    if (step_ == 8) return load(first, half);
    if (group > 0) return cut(load(first - 1, half), _mm512_load_si512(spread_.bytes));
    // vpermb takes positions modulo 64: the byte before the ring is put at the end.
    const __m512i bytes =
        _mm512_mask_set1_epi8(load(first, half), uint64_t{1} << 63, static_cast<char>(before));
    return cut(bytes, _mm512_sub_epi8(_mm512_load_si512(spread_.bytes), _mm512_set1_epi8(1)));
  }
  /// The same, reading nothing but the `count` bytes that belong to the windows and the one before
  /// them.
  HWY_ATTR __m512i read_exactly(const uint8_t* ring, int group, int count, uint8_t before) const {
    const uint8_t* first = ring + 8 * step_ * group;
    if (step_ == 8) return _mm512_maskz_loadu_epi8(~uint64_t{0} >> (64 - count), first);
    const uint64_t own = ~uint64_t{0} >> (64 - count) << 1;
    __m512i bytes = _mm512_maskz_loadu_epi8(group == 0 ? own : own | 1, first - 1);
    if (group == 0) bytes = _mm512_mask_set1_epi8(bytes, 1, static_cast<char>(before));
    return cut(bytes, _mm512_load_si512(spread_.bytes));
  }
  /// Fields 64·group … 64·group+63 of up to 7 bits, the bits above them 0; up to 64 bytes behind
  /// the fields' first are read.
  HWY_ATTR __m512i read_fields(const uint8_t* fields, int group) const {
    const __m512i bytes = _mm512_loadu_si512(fields + 8 * step_ * group);
    return _mm512_and_si512(cut(bytes, _mm512_load_si512(spread_.bytes)),
                            _mm512_set1_epi8(static_cast<char>((1 << step_) - 1)));
  }

 private:
  static HWY_ATTR HWY_INLINE __m512i load(const uint8_t* bytes, bool half) {
    if (!half) return _mm512_loadu_si512(bytes);
    return _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)));
  }
  HWY_ATTR HWY_INLINE __m512i cut(__m512i bytes, __m512i positions) const {
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

HWY_ATTR HWY_INLINE __m512i look_up(const void* bytes, __m512i index) {
  return ByteTable(bytes).look_up(index);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // POLARQUANT_WINDOW_DECODE_INL_H_
