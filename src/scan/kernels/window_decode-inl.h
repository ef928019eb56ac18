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

/// 64 windows of one ring at a time: vpermb brings each 8 pairs' bytes to a 64-bit lane,
/// vpmultishiftqb cuts the windows, for any step.
class WindowReader {
 public:
  HWY_ATTR explicit WindowReader(int step) : step_(step) {
    alignas(64) uint8_t spread[64];
    alignas(64) uint8_t shifts[64];
    for (int lane = 0; lane < 8; ++lane) {
      for (int i = 0; i < 8; ++i) {
        const int byte = lane * step + i;
        spread[8 * lane + i] = static_cast<uint8_t>(byte < 63 ? byte : 63);
        shifts[8 * lane + i] = static_cast<uint8_t>(step + i * step);
      }
    }
    std::memcpy(spread_, spread, sizeof spread_);
    std::memcpy(shifts_, shifts, sizeof shifts_);
  }
  /// How far behind the ring's start the windows of `groups` groups make `read` read.
  size_t bytes_read(int groups) const { return static_cast<size_t>(8 * step_ * (groups - 1)) + 64; }
  /// Windows of pairs 64·group … 64·group+63; up to 64 bytes behind the ring are read.
  HWY_ATTR __m512i read(const uint8_t* ring, int group, uint8_t before) const {
    if (step_ == 8) return _mm512_loadu_si512(ring + 64 * group);
    __m512i bytes = _mm512_loadu_si512(ring + 8 * step_ * group - 1);
    if (group == 0) bytes = _mm512_mask_set1_epi8(bytes, 1, static_cast<char>(before));
    return cut(bytes);
  }
  /// The same, reading nothing but the `count` bytes that belong to the windows and the one before
  /// them.
  HWY_ATTR __m512i read_exactly(const uint8_t* ring, int group, int count, uint8_t before) const {
    const uint8_t* first = ring + 8 * step_ * group;
    if (step_ == 8) return _mm512_maskz_loadu_epi8(~uint64_t{0} >> (64 - count), first);
    const uint64_t own = ~uint64_t{0} >> (64 - count) << 1;
    __m512i bytes = _mm512_maskz_loadu_epi8(group == 0 ? own : own | 1, first - 1);
    if (group == 0) bytes = _mm512_mask_set1_epi8(bytes, 1, static_cast<char>(before));
    return cut(bytes);
  }

 private:
  HWY_ATTR __m512i cut(__m512i bytes) const {
    return _mm512_multishift_epi64_epi8(_mm512_load_si512(shifts_),
                                        _mm512_permutexvar_epi8(_mm512_load_si512(spread_), bytes));
  }

  int step_;
  alignas(64) uint8_t spread_[64];
  alignas(64) uint8_t shifts_[64];
};

/// 256 bytes in four registers.
HWY_ATTR inline __m512i look_up(const uint8_t* table, __m512i index) {
  const __m512i low =
      _mm512_permutex2var_epi8(_mm512_load_si512(table), index, _mm512_load_si512(table + 64));
  const __m512i high = _mm512_permutex2var_epi8(_mm512_load_si512(table + 128), index,
                                                _mm512_load_si512(table + 192));
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // POLARQUANT_WINDOW_DECODE_INL_H_
