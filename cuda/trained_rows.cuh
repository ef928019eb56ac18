// SPDX-License-Identifier: MIT
// Two rows of a trained code in shared memory, part by part: all threads of a warp decode the same
// segment, and each of the four threads that have a row its group8, as in shared_decode.cuh. In a
// part the bits of a pair and the copies of its table are known to compilers.
#pragma once

#include "cuda/shared_decode.cuh"
#include "cuda/tile_plan.h"
#include "cuda/trained_decode.cuh"

namespace polarquant::cuda {

__device__ inline TilePart tile_part(const CodeView& code, const TileTables& tables, int number) {
  const PartView& part = code.part[number];
  const SegmentView& first = code.plan[part.first_segment];
  const auto step = static_cast<uint32_t>(first.stage.step_bits);
  return {part.first_segment,
          part.segments,
          first.stage.codes_offset,
          static_cast<uint32_t>(first.pairs) * step / 8,
          first.stage.step_bits,
          tables.place[number],
          part.index_bits,
          tables.index_shift[number],
          first.stage.signs != SignPlace::none ? 1 : 0,
          first.stage.kind == CodeKind::magnitudes ? 1 : 0};
}

/// Two rows, and what is loaded of a segment ahead of its use.
class TrainedRows {
 public:
  /// `tables`: the address of the first one. `mask`: as for PlainRows.
  __device__ TrainedRows(const CodeView& code, const RowBytes (&rows)[2], uint32_t tables,
                         uint32_t mask)
      : tables_(tables),
        mask_(mask),
        payload_(shared_address(rows[0].payload)),
        sketch_(shared_address(rows[0].sketch)),
        next_payload_(8 * code.payload_bytes),
        sketch_words_(code.sketch_words) {}

  /// Begins a part of windows, kStep bits a pair: loads its first segment.
  template <int kStep>
  __device__ __forceinline__ void begin_windows(const TilePart& part) {
    begin(part);
    const int c = threadIdx.x % 4;
    // The byte that the group8's windows begin in.
    const uint32_t byte = payload_ + part.codes + c * kStep - (kStep < 8 ? 1 : 0);
    word_ = byte & ~3U;
    bit_ = (byte & 3U) * 8 + kStep % 8;
    // Before a ring's first byte is its last.
    const uint32_t last = payload_ + part.codes + part.ring_bytes - 4;
    load_codes(kStep < 8 && c == 0 ? last : word_);
    load_signs();
  }
  /// Looks up the entries of the loaded segment, and loads the next one, unless `is_last` of the
  /// part. The table has 2^(kShift − 2) copies.
  template <int kStep, int kShift>
  __device__ __forceinline__ void look_up_windows(bool is_last) {
    select_signs();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Bits64 bits = {__funnelshift_r(codes_[r][0], codes_[r][1], bit_),
                           __funnelshift_r(codes_[r][1], codes_[r][2], bit_)};
      entries_[r][0] = entry<0, kShift>(bits);
      entries_[r][1] = entry<kStep, kShift>(bits);
      entries_[r][2] = entry<2 * kStep, kShift>(bits);
      entries_[r][3] = entry<3 * kStep, kShift>(bits);
      entries_[r][4] = entry<4 * kStep, kShift>(bits);
      entries_[r][5] = entry<5 * kStep, kShift>(bits);
      entries_[r][6] = entry<6 * kStep, kShift>(bits);
      entries_[r][7] = entry<7 * kStep, kShift>(bits);
    }
    if (is_last) return;
    word_ += kGroupsPerSegment * kStep;
    load_codes(word_);
    load_signs();
  }

  /// The same for a part of magnitudes, whose bits are loaded when they are looked up.
  __device__ __forceinline__ void begin_magnitudes(const TilePart& part) {
    begin(part);
    word_ = payload_ + part.codes + threadIdx.x % 4 * part.step_bits;
    load_signs();
  }
  __device__ __forceinline__ void look_up_magnitudes(const TilePart& part, bool is_last) {
    const int step = part.step_bits;
    const SharedTable table = {table_, ((1U << part.index_bits) - 1) << part.index_shift,
                               part.index_shift};
    select_signs();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const uint32_t at = word_ + r * next_payload_;
      uint32_t other[kGroupPairs];
      look_up_eight(table, load_bits_shared(at), step, entries_[r]);
      look_up_eight(table, load_bits_shared(at + kSegmentDims / 2 / 8 * step), step, other);
#pragma unroll
      for (int i = 0; i < kGroupPairs; ++i)
        entries_[r][i] = __byte_perm(entries_[r][i], other[i], 0x5410);
    }
    if (is_last) return;
    word_ += kSegmentDims / 8 * step;
    load_signs();
  }

  /// What was looked up, as words in the order of two products.
  __device__ __forceinline__ void put_words(uint32_t (&words)[2][4]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int u = 0; u < 4; ++u)
        words[u / 2][u % 2 * 2 + r] =
            __byte_perm(entries_[r][u], entries_[r][u + 4],
                        kUnsignedSelector | (selected_signs_[r] >> u & sign_mask_));
    }
  }

 private:
  __device__ __forceinline__ void begin(const TilePart& part) {
    const uint32_t lane = threadIdx.x % 32 * 4;
    table_ = tables_ + part.table | (lane & ((1U << part.index_shift) - 1));
    sign_mask_ = part.has_signs != 0 ? mask_ : 0;
    segment_ = part.has_signs != 0 ? part.first_segment : 0;
  }
  __device__ __forceinline__ void load_codes(uint32_t first) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      codes_[r][0] = load_word(first + r * next_payload_);
      codes_[r][1] = load_word(word_ + 4 + r * next_payload_);
      codes_[r][2] = load_word(word_ + 8 + r * next_payload_);
    }
  }
  /// Those of the next segment. A code without signs may have no words: any are read.
  __device__ __forceinline__ void load_signs() {
    const bool in_sketch = segment_ < sketch_words_;
    const uint32_t at =
        in_sketch ? sketch_ + segment_ * 64 : payload_ + (segment_ - sketch_words_) * 8;
    const uint32_t next = in_sketch ? static_cast<uint32_t>(sketch_words_) * 64 : next_payload_;
#pragma unroll
    for (int r = 0; r < 2; ++r) signs_[r] = load_two_words(at + r * next);
    segment_ += sign_mask_ != 0 ? 1 : 0;
  }
  /// Signs of the group8's eight x, then of its eight y.
  __device__ __forceinline__ void select_signs() {
#pragma unroll
    for (int r = 0; r < 2; ++r)
      selected_signs_[r] =
          __byte_perm(signs_[r].low, signs_[r].high, 0x40U + 0x11U * (threadIdx.x % 4));
  }
  /// The entry of the window that begins at bit kFirst.
  template <int kFirst, int kShift>
  __device__ __forceinline__ uint32_t entry(const Bits64& bits) const {
    uint32_t placed;
    if constexpr (kFirst >= 32 + kShift) {
      placed = bits.high >> (kFirst - 32 - kShift);
    } else if constexpr (kFirst >= 32) {
      placed = bits.high << (kShift + 32 - kFirst);
    } else if constexpr (kFirst + 8 > 32) {
      placed = __funnelshift_r(bits.low, bits.high, kFirst - kShift);
    } else if constexpr (kFirst >= kShift) {
      placed = bits.low >> (kFirst - kShift);
    } else {
      placed = bits.low << (kShift - kFirst);
    }
    return load_word((placed & (255U << kShift)) | table_);
  }
  __device__ __forceinline__ static void look_up_eight(const SharedTable& table, const Bits64& bits,
                                                       int step, uint32_t (&entries)[kGroupPairs]) {
    look_up_four(table, bits, step, entries);
    look_up_four(table, shift_right(bits, 4 * step), step, entries + 4);
  }

  uint32_t tables_;
  uint32_t mask_;
  uint32_t payload_;  // of the first row; the second is eight after it
  uint32_t sketch_;
  uint32_t next_payload_;
  int sketch_words_;
  // Of a part, and its next segment.
  uint32_t table_ = 0;
  uint32_t sign_mask_ = 0;
  int segment_ = 0;  // whose signs are loaded next
  uint32_t word_ = 0;
  uint32_t bit_ = 0;
  uint32_t codes_[2][3];
  Bits64 signs_[2];
  // Of the segment that was looked up.
  uint32_t entries_[2][kGroupPairs];
  uint32_t selected_signs_[2];
};

/// Any trained code, from the plan itself.
class AnyTrainedRows {
 public:
  __device__ AnyTrainedRows(const CodeView& code, const RowBytes (&rows)[2],
                            const TileTables& places, uint32_t tables)
      : code_(code), rows_(rows), places_(places), tables_(tables) {}

  __device__ void put_words(uint32_t (&words)[2][4]) {
    const int c = threadIdx.x % 4;
    const SegmentView& view = code_.plan[segment_];
    const int shift = places_.index_shift[view.table];
    const uint32_t lane = threadIdx.x % 32 * 4;
    const SharedTable table = {tables_ + places_.place[view.table] | (lane & ((1U << shift) - 1)),
                               ((1U << code_.part[view.table].index_bits) - 1) << shift, shift};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Group8Codes codes = load_trained_group8(code_, view, rows_[r], segment_, c);
      uint32_t decoded[4];
      decode_group8(
          view.stage, codes, [&](uint32_t index) { return table.entry(index << shift); }, decoded);
#pragma unroll
      for (int u = 0; u < 4; ++u) words[u / 2][u % 2 * 2 + r] = decoded[u];
    }
    ++segment_;
  }

 private:
  const CodeView& code_;
  const RowBytes (&rows_)[2];
  const TileTables& places_;
  uint32_t tables_;
  int segment_ = 0;
};

}  // namespace polarquant::cuda
