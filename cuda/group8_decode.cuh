// SPDX-License-Identifier: MIT
// Eight pairs of a row, from codes to signed int8 values: the step that every scan of codes
// takes. A segment of 64 positions is four groups8, group8 c its pairs 8c … 8c+7, which are
// positions 8c … 8c+7 and 32+8c … 32+8c+7.
//
// Four words hold a group8's 16 values: byte 0 and 1 of word u are x of pairs u and u+4, byte 2
// and 3 their y. A table has x, −x, y, −y of a window, so that one byte permutation takes what two
// pairs need and gives it its signs: the permutation's selectors are two sign bits of x and two of
// y, which lie four apart in the sign words as they do in the selector.
#pragma once

#include <cstdint>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// 64 bits from any address; reads the four-byte words that hold them, and up to one more.
__device__ inline uint64_t load_bits(const uint8_t* from) {
  const auto address = reinterpret_cast<uintptr_t>(from);
  const auto* words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{3});
  const auto shift = static_cast<uint32_t>(address & 3) * 8;
  const uint32_t middle = words[1];
  const uint32_t low = __funnelshift_r(words[0], middle, shift);
  const uint32_t high = __funnelshift_r(middle, words[2], shift);
  return static_cast<uint64_t>(high) << 32 | low;
}

/// The `count` ≤ 7 bits before a ring's first, which are its last ones; a short ring repeats.
__device__ inline uint32_t ring_end(const uint8_t* ring, int ring_bits, int count) {
  if (ring_bits >= 8) {
    const int first = ring_bits - count;
    const uint32_t low = ring[first / 8];
    const uint32_t high = ring[(ring_bits - 1) / 8];
    return (low | high << 8) >> (first % 8) & ((1U << count) - 1);
  }
  uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    int at = (i - count) % ring_bits;
    if (at < 0) at += ring_bits;
    bits |= static_cast<uint32_t>(ring[0] >> at & 1) << i;
  }
  return bits;
}

/// group8_windows of the first group8, whose first bits are the ring's last.
__device__ inline uint64_t first_windows(const uint8_t* ring, int step, int ring_bits) {
  const int before = 8 - step;
  return load_bits(ring) << before | ring_end(ring, ring_bits, before);
}
/// It comes once a row, and is not inlined.
__device__ inline __noinline__ uint64_t first_windows_apart(const uint8_t* ring, int step,
                                                            int ring_bits) {
  return first_windows(ring, step, ring_bits);
}

/// The bits of a group8's windows: window i is bits i·step … i·step+7. Without a branch where the
/// ring is whole bytes, since lanes side by side have other groups8.
__device__ inline uint64_t group8_windows(const uint8_t* ring, int step, int group8,
                                          int ring_bits) {
  if (step == 8) return load_bits(ring + group8 * step);
  if (ring_bits % 8 != 0 || ring_bits < 8) {
    if (group8 == 0) return first_windows_apart(ring, step, ring_bits);
    return load_bits(ring + group8 * step - 1) >> step;
  }
  const uint64_t bits = load_bits(ring + (group8 == 0 ? 0 : group8 * step - 1));
  const uint64_t last = ring[ring_bits / 8 - 1] >> step;
  return group8 == 0 ? bits << (8 - step) | last : bits >> step;
}

/// Sign bits of the group8's eight x, then of its eight y.
__device__ inline uint32_t word_signs(const uint8_t* word, int c) {
  return word[c] | static_cast<uint32_t>(word[4 + c]) << 8;
}
/// The same from a plane in coordinate order, for a last segment of `count` < 64 coordinates.
__device__ inline __noinline__ uint32_t last_plane_signs(const uint8_t* plane, int c, int count) {
  uint64_t bits = 0;
  for (int i = 0; i < (count + 7) / 8; ++i) bits |= static_cast<uint64_t>(plane[i]) << (8 * i);
  const int half = (count + 1) / 2;
  const int first_y = half + 8 * c;
  const uint32_t y = first_y < kSegmentDims ? static_cast<uint32_t>(bits >> first_y) : 0;
  return (static_cast<uint32_t>(bits >> (8 * c)) & 255) | (y & 255) << 8;
}

__device__ inline uint32_t plane_signs(const uint8_t* plane, int c, int count) {
  return count == kSegmentDims ? word_signs(plane, c) : last_plane_signs(plane, c, count);
}

__device__ inline int segment_count(int dim, int segment) {
  const int left = dim - segment * kSegmentDims;
  return left < kSegmentDims ? left : kSegmentDims;
}

/// A row: its sketch word of segment 0 (words of further segments lie 64 bytes apart), and its
/// payload.
struct RowBytes {
  const uint8_t* sketch;
  const uint8_t* payload;
};

__device__ inline uint32_t group8_signs(const CodeView& code, const StageView& stage,
                                        const RowBytes& row, int segment, int c) {
  if (stage.signs == SignPlace::none) return 0;
  if (stage.signs == SignPlace::plane)
    return plane_signs(row.payload + stage.signs_offset + 8 * segment, c,
                       segment_count(code.dim, segment));
  const uint8_t* word = segment < code.sketch_words
                            ? row.sketch + 64 * segment
                            : row.payload + 8 * (segment - code.sketch_words);
  return word_signs(word, c);
}

/// The selector of two pairs in the group8's signs: bits u, u+4, u+8 and u+12.
inline constexpr uint32_t kSignMask = 0x1111U;
inline constexpr uint32_t kUnsignedSelector = 0x6240U;
__device__ inline uint32_t signed_selector(uint32_t signs, int u) {
  return (signs >> u & kSignMask) | kUnsignedSelector;
}

/// What says which table entries the group8's values are.
struct Group8Codes {
  uint64_t x;  // windows, or magnitudes of the x
  uint64_t y;  // magnitudes of the y
  uint32_t signs;
};

/// Where the magnitudes of a segment's second coordinates begin, in bits from its first one's.
__device__ inline int first_y_bit(const StageView& stage, int count) {
  return (count + 1) / 2 * stage.step_bits;
}

__device__ inline Group8Codes load_group8(const CodeView& code, const StageView& stage,
                                          const RowBytes& row, int segment, int c) {
  Group8Codes group8;
  const uint8_t* codes = row.payload + stage.codes_offset;
  group8.y = 0;
  if (stage.kind == CodeKind::magnitudes) {
    const int y_bit = first_y_bit(stage, segment_count(code.dim, segment));
    const uint8_t* fields = codes + (segment * kSegmentDims / 8 + c) * stage.step_bits;
    group8.x = load_bits(fields);
    group8.y = load_bits(fields + y_bit / 8) >> (y_bit % 8);
  } else {
    group8.x = group8_windows(codes, stage.step_bits, segment * kGroupsPerSegment + c,
                              code.pairs * stage.step_bits);
  }
  group8.signs = group8_signs(code, stage, row, segment, c);
  return group8;
}

/// `look_up(index)` gives a table's entry.
template <typename LookUp>
__device__ inline void decode_group8(const StageView& stage, const Group8Codes& group8,
                                     const LookUp& look_up, uint32_t words[4]) {
  uint32_t entries[kGroupPairs];
  if (stage.kind == CodeKind::magnitudes) {
    // The table repeats itself: bits above a magnitude's do not count.
#pragma unroll
    for (int i = 0; i < kGroupPairs; ++i) {
      const int shift = i * stage.step_bits;
      const uint32_t x = look_up(static_cast<uint32_t>(group8.x >> shift) & 255);
      const uint32_t y = look_up(static_cast<uint32_t>(group8.y >> shift) & 255);
      entries[i] = __byte_perm(x, y, 0x5410);
    }
  } else {
    uint64_t bits = group8.x;
#pragma unroll
    for (int i = 0; i < kGroupPairs; ++i) {
      entries[i] = look_up(static_cast<uint32_t>(bits) & 255);
      bits >>= stage.step_bits;
    }
  }
#pragma unroll
  for (int u = 0; u < 4; ++u)
    words[u] = __byte_perm(entries[u], entries[u + 4], signed_selector(group8.signs, u));
}

/// The position in a segment of byte b of word u of group8 c, for those who order queries alike.
__host__ __device__ inline int position_of_byte(int c, int u, int b) {
  return (b < 2 ? 0 : 32) + 8 * c + u + (b % 2 == 0 ? 0 : 4);
}

}  // namespace polarquant::cuda
