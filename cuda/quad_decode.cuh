// SPDX-License-Identifier: MIT
// Two rows of a plain code (tile_plan.h), four segments at a time: each of the four threads that
// have a row takes a segment, whose codes are whole words one after the other. They and its signs
// are loaded once and shifted by numbers that are known here, which takes half as many loads as one
// group8 after the other (shared_decode.cuh), and from different banks. A thread then decodes its
// segment's groups8 in turn, so that queries lie in the same order (place_chunk in
// tile_scan_kernel.cuh).
#pragma once

#include <cstdint>

#include "cuda/shared_decode.cuh"

namespace polarquant::cuda {

inline constexpr int kQuadSegments = 4;

template <int kStep, bool kSigns>
class QuadRows {
 public:
  /// `mask`: as for PlainRows. Loads the first four segments.
  __device__ QuadRows(const CodeView& code, const RowBytes (&rows)[2], uint32_t table,
                      uint32_t mask)
      : code_(code),
        table_(table),
        mask_(mask),
        segment_(threadIdx.x % 4),
        payload_(shared_address(rows[0].payload)),
        sketch_(shared_address(rows[0].sketch)) {
    const uint32_t ring = payload_ + code_.stage[0].codes_offset;
    // The bits before a ring's first are its last.
    load(segment_ == 0 ? ring + code_.segments * kSegmentBytes - 4 : codes() - 4);
  }

  /// Goes on to the next four segments.
  __device__ void advance() {
    segment_ += kQuadSegments;
    load(codes() - 4);
  }

  /// The words of a group8 of the thread's segments, in the order of two products.
  template <int kGroup8>
  __device__ void decode(uint32_t (&words)[2][4]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      constexpr int kFirst = kGroup8 * kGroupPairs;
      const uint32_t entries[kGroupPairs] = {
          entry<kFirst>(r),     entry<kFirst + 1>(r), entry<kFirst + 2>(r), entry<kFirst + 3>(r),
          entry<kFirst + 4>(r), entry<kFirst + 5>(r), entry<kFirst + 6>(r), entry<kFirst + 7>(r)};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        uint32_t selector = kUnsignedSelector;
        if constexpr (kSigns) selector |= signs_[r][kGroup8 / 2] >> (kGroup8 % 2 * 16 + u) & mask_;
        words[u / 2][u % 2 * 2 + r] = __byte_perm(entries[u], entries[u + 4], selector);
      }
    }
  }

 private:
  static constexpr int kSegmentBytes = kGroupsPerSegment * kStep;

  /// Where the first row's codes are.
  __device__ uint32_t codes() const {
    return payload_ + code_.stage[0].codes_offset + segment_ * kSegmentBytes;
  }
  /// `before`: the address of the word before the first row's segment.
  __device__ void load(uint32_t before) {
    const uint32_t next_row = 8 * code_.payload_bytes;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      bits_[r][0] = load_word(before + r * next_row);
      const uint32_t at = codes() + r * next_row;
      if constexpr (kStep % 2 == 0) {
#pragma unroll
        for (int i = 0; i < kStep; i += 2) {
          const Bits64 two = load_two_words(at + 4 * i);
          bits_[r][i + 1] = two.low;
          bits_[r][i + 2] = two.high;
        }
      } else {
#pragma unroll
        for (int i = 0; i < kStep; ++i) bits_[r][i + 1] = load_word(at + 4 * i);
      }
    }
    if constexpr (kSigns) {
      const int sketch_words = code_.sketch_words;
      const bool in_sketch = segment_ < sketch_words;
      const uint32_t at =
          in_sketch ? sketch_ + segment_ * 64 : payload_ + (segment_ - sketch_words) * 8;
      const uint32_t next = in_sketch ? static_cast<uint32_t>(sketch_words) * 64 : next_row;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const Bits64 xy = load_two_words(at + r * next);
        // One group8 after the other: its eight signs of x, its eight of y.
        signs_[r][0] = __byte_perm(xy.low, xy.high, 0x5140);
        signs_[r][1] = __byte_perm(xy.low, xy.high, 0x7362);
      }
    }
  }

  /// The table's entry of window kWindow; tables have one copy a lane.
  template <int kWindow>
  __device__ uint32_t entry(int r) const {
    // Counted from the word before the segment.
    constexpr int kFirst = 32 + (kWindow + 1) * kStep - 8;
    constexpr int kWord = kFirst / 32;
    constexpr int kBit = kFirst % 32;
    uint32_t placed;
    if constexpr (kBit + 8 > 32) {
      placed = __funnelshift_r(bits_[r][kWord], bits_[r][kWord + 1], kBit - kPlainIndexShift);
    } else if constexpr (kBit >= kPlainIndexShift) {
      placed = bits_[r][kWord] >> (kBit - kPlainIndexShift);
    } else {
      placed = bits_[r][kWord] << (kPlainIndexShift - kBit);
    }
    return load_word((placed & (255U << kPlainIndexShift)) | table_);
  }

  const CodeView& code_;
  uint32_t table_;
  uint32_t mask_;
  int segment_;
  uint32_t payload_;  // of the first row; the second is eight after it
  uint32_t sketch_;
  uint32_t bits_[2][kStep + 1];  // the word before the segment's, then those
  uint32_t signs_[2][2];         // two groups8 each
};

}  // namespace polarquant::cuda
