// SPDX-License-Identifier: MIT
// group8_decode.cuh for rows and tables in shared memory, where every instruction counts: addresses
// of 32 bits, windows are shifted so that one mask makes them a table's address, for any step.
#pragma once

#include <cstdint>

#include "cuda/group8_decode.cuh"

namespace polarquant::cuda {

__device__ inline uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
__device__ inline uint32_t load_word(uint32_t address) {
  uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}
__device__ inline uint32_t load_byte(uint32_t address) {
  uint32_t byte;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address));
  return byte;
}

/// An entry and its copies for 32 lanes.
inline constexpr int kPlainIndexShift = 7;

struct Bits64 {
  uint32_t low;
  uint32_t high;
};

/// From an address that is a multiple of eight.
__device__ inline Bits64 load_two_words(uint32_t address) {
  Bits64 words;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(words.low), "=r"(words.high)
               : "r"(address));
  return words;
}
/// 64 bits from any address.
__device__ inline Bits64 load_bits_shared(uint32_t address) {
  const uint32_t words = address & ~3U;
  const uint32_t shift = address * 8;  // the funnel takes it modulo 32
  const uint32_t middle = load_word(words + 4);
  return {__funnelshift_r(load_word(words), middle, shift),
          __funnelshift_r(middle, load_word(words + 8), shift)};
}
__device__ inline Bits64 shift_right(const Bits64& bits, uint32_t count) {
  const uint64_t value = (static_cast<uint64_t>(bits.high) << 32 | bits.low) >> count;
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}
__device__ inline Bits64 shift_left(const Bits64& bits, uint32_t count) {
  return {bits.low << count, __funnelshift_l(bits.low, bits.high, count)};
}

/// A stage's table, this lane's copy: entry i is at `place | i << index_shift`.
struct SharedTable {
  uint32_t place;
  uint32_t index_mask;
  int index_shift;

  /// `bits`: an index from bit index_shift on, with any bits around it.
  __device__ uint32_t entry(uint32_t bits) const { return load_word((bits & index_mask) | place); }
};

/// Four entries of indices `step` bits apart.
__device__ inline void look_up_four(const SharedTable& table, const Bits64& indices, int step,
                                    uint32_t entries[4]) {
  const Bits64 placed = shift_left(indices, table.index_shift);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    entries[i] = table.entry(__funnelshift_r(placed.low, placed.high, i * step));
}

/// One row of a stage, for the thread that decodes its groups8 c (of every segment).
struct SharedRow {
  uint32_t codes;         // group8 c of segment 0: where bits of its windows, or of x, begin
  uint32_t sketch_word;   // signs of the segments in the sketch, byte c
  uint32_t payload_word;  // those after, as if segment 0 were there
  uint32_t plane;         // signs in coordinate order
  uint32_t ring;
};

__device__ inline SharedRow shared_row(const CodeView& code, const StageView& stage,
                                       const RowBytes& row, int c) {
  SharedRow shared;
  const uint32_t payload = shared_address(row.payload);
  shared.ring = payload + stage.codes_offset;
  shared.codes = shared.ring + c * stage.step_bits;
  if (stage.kind == CodeKind::windows) shared.codes += (stage.step_bits >> 3) - 1;
  shared.sketch_word = shared_address(row.sketch) + c;
  shared.payload_word = payload - 8 * code.sketch_words + c;
  shared.plane = payload + stage.signs_offset;
  return shared;
}

__device__ inline uint32_t shared_signs(const CodeView& code, const StageView& stage,
                                        const SharedRow& row, const RowBytes& bytes, int segment,
                                        int c) {
  if (stage.signs == SignPlace::none) return 0;
  uint32_t word;
  if (stage.signs == SignPlace::words) {
    word = segment < code.sketch_words ? row.sketch_word + 64 * segment
                                       : row.payload_word + 8 * segment;
  } else {
    const int count = segment_count(code.dim, segment);
    if (count != kSegmentDims)
      return plane_signs(bytes.payload + stage.signs_offset + 8 * segment, c, count);
    word = row.plane + 8 * segment + c;
  }
  return load_byte(word) | load_byte(word + 4) << 8;
}

/// Decodes the group8's four words; see decode_group8.
__device__ inline void decode_shared(const CodeView& code, const StageView& stage,
                                     const SharedTable& table, const SharedRow& row,
                                     const RowBytes& bytes, int segment, int c, uint32_t words[4]) {
  const uint32_t signs = shared_signs(code, stage, row, bytes, segment, c);
  uint32_t entries[kGroupPairs];
  if (stage.kind == CodeKind::windows) {
    const int step = stage.step_bits;
    Bits64 bits =
        shift_right(load_bits_shared(row.codes + segment * kGroupsPerSegment * step), step & 7);
    if (segment == 0 && c == 0 && step < 8) {
      // Its first bits are the ring's last.
      const uint64_t first =
          group8_windows(bytes.payload + stage.codes_offset, step, 0, code.pairs * step);
      bits = {static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)};
    }
    look_up_four(table, bits, step, entries);
    look_up_four(table, shift_right(bits, 4 * step), step, entries + 4);
  } else {
    const int step = stage.step_bits;
    const int y_bit = first_y_bit(stage, segment_count(code.dim, segment));
    const uint32_t first = row.codes + segment * (kSegmentDims / 8) * step;
    const Bits64 x = load_bits_shared(first);
    const Bits64 y = shift_right(load_bits_shared(first + y_bit / 8), y_bit % 8);
    uint32_t other[kGroupPairs];
    look_up_four(table, x, step, entries);
    look_up_four(table, shift_right(x, 4 * step), step, entries + 4);
    look_up_four(table, y, step, other);
    look_up_four(table, shift_right(y, 4 * step), step, other + 4);
#pragma unroll
    for (int i = 0; i < kGroupPairs; ++i) entries[i] = __byte_perm(entries[i], other[i], 0x5410);
  }
#pragma unroll
  for (int u = 0; u < 4; ++u)
    words[u] = __byte_perm(entries[u], entries[u + 4], signed_selector(signs, u));
}

/// Two rows of a plain code (tile_plan.h), for the thread that decodes their groups8 c: nothing in
/// a segment depends on the code but two numbers, which the compiler knows here. It then knows the
/// shifts, and which words need not be read, so that this takes half as many instructions as
/// decode_shared. A segment's bits are loaded ahead of their use.
template <int kStep, bool kSigns>
class PlainRows {
 public:
  /// `mask`: kSignMask, from memory, so that it stays in a register: selecting a pair's signs is
  /// then one instruction. Begins at `segment`, an even one.
  __device__ PlainRows(const CodeView& code, const RowBytes (&rows)[2], uint32_t table,
                       uint32_t mask, int segment)
      : table_(table), mask_(mask), sketch_words_(code.sketch_words), segment_(segment) {
    const StageView& stage = code.stage[0];
    const int c = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const SharedRow row = shared_row(code, stage, rows[r], c);
      codes_[r] = (row.codes & ~3U) + segment * kSegmentBytes;
      first_bit_[r] = (row.codes & 3U) * 8 + kStep;
      signs_[r] =
          segment < sketch_words_ ? row.sketch_word + segment * 64 : row.payload_word + segment * 8;
      payload_signs_[r] = row.payload_word;
    }
    if (segment >= sketch_words_) sign_stride_ = 8;
    load(0);
    if (segment != 0) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Bits64 first =
          first_windows_shared(shared_address(rows[r].payload) + stage.codes_offset,
                               code.pairs * kStep, rows[r].payload + stage.codes_offset);
      if (c == 0) bits_[r] = first;
    }
  }

  /// The words of the loaded segment, in the order of two products.
  __device__ void decode(uint32_t (&words)[2][4]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Bits64& bits = bits_[r];
      const uint32_t entries[kGroupPairs] = {entry<0>(bits), entry<1>(bits), entry<2>(bits),
                                             entry<3>(bits), entry<4>(bits), entry<5>(bits),
                                             entry<6>(bits), entry<7>(bits)};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        uint32_t selector = kUnsignedSelector;
        if constexpr (kSigns) {
          const uint32_t signs = sign_low_[r] | sign_high_[r] << 8;
          selector |= signs >> u & mask_;
        }
        words[u / 2][u % 2 * 2 + r] = __byte_perm(entries[u], entries[u + 4], selector);
      }
    }
  }

  /// Loads segment `half`, 0 or 1, of the current two.
  __device__ void load(int half) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const uint32_t at = codes_[r] + half * kSegmentBytes;
      const uint32_t middle = load_word(at + 4);
      bits_[r] = {__funnelshift_r(load_word(at), middle, first_bit_[r]), 0};
      if constexpr (kBits + kMostBefore > 64) {
        bits_[r].high = __funnelshift_r(middle, load_word(at + 8), first_bit_[r]);
      } else if constexpr (kBits > 32) {
        bits_[r].high = middle >> first_bit_[r];
      }
      if constexpr (kSigns) {
        const uint32_t word = signs_[r] + half * sign_stride_;
        sign_low_[r] = load_byte(word);
        sign_high_[r] = load_byte(word + 4);
      }
    }
  }
  /// Goes on to the next two segments.
  __device__ void advance() {
    segment_ += 2;
    // Words in the sketch are two or four; how far apart they lie differs from the payload.
    const bool after_sketch = segment_ == sketch_words_;
    if (after_sketch) sign_stride_ = 8;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      codes_[r] += 2 * kSegmentBytes;
      if constexpr (kSigns)
        signs_[r] = after_sketch ? payload_signs_[r] + segment_ * 8 : signs_[r] + 2 * sign_stride_;
    }
  }

 private:
  static constexpr int kSegmentBytes = kGroupsPerSegment * kStep;
  /// From a group8's first window to its last.
  static constexpr int kBits = 7 * kStep + 8;
  /// The most bits of a four-byte word before the first window.
  static constexpr int kMostBefore = 24 + kStep;

  /// The bits of the ring's first group8, which begin with the ring's last.
  __device__ static Bits64 first_windows_shared(uint32_t ring, int ring_bits,
                                                const uint8_t* bytes) {
    constexpr int kBefore = 8 - kStep;
    uint32_t before;
    if (ring_bits >= 8) {
      const uint32_t first = ring_bits - kBefore;
      const uint32_t low = load_byte(ring + first / 8);
      const uint32_t high = load_byte(ring + (ring_bits - 1) / 8);
      before = (low | high << 8) >> (first % 8) & ((1U << kBefore) - 1);
    } else {
      before = ring_end(bytes, ring_bits, kBefore);
    }
    Bits64 bits = shift_left(load_bits_shared(ring), kBefore);
    bits.low |= before;
    return bits;
  }

  /// The table's entry of window kWindow; tables are as in SharedTable, one copy a lane.
  template <int kWindow>
  __device__ uint32_t entry(const Bits64& bits) const {
    constexpr int kFirst = kWindow * kStep;
    uint32_t placed;
    if constexpr (kFirst >= 32) {
      placed = shifted<kFirst - 32>(bits.high);
    } else if constexpr (kFirst + 8 <= 32) {
      placed = shifted<kFirst>(bits.low);
    } else {
      placed = __funnelshift_r(bits.low, bits.high, kFirst - kPlainIndexShift);
    }
    return load_word((placed & (255U << kPlainIndexShift)) | table_);
  }
  /// Bit kFirst goes to where a table's index begins.
  template <int kFirst>
  __device__ static uint32_t shifted(uint32_t bits) {
    if constexpr (kFirst >= kPlainIndexShift) {
      return bits >> (kFirst - kPlainIndexShift);
    } else {
      return bits << (kPlainIndexShift - kFirst);
    }
  }

  uint32_t table_;
  uint32_t mask_;
  int sketch_words_;
  int segment_;
  uint32_t sign_stride_ = 64;
  uint32_t codes_[2];      // group8 c of the segment: the four-byte word that its windows begin in,
  uint32_t first_bit_[2];  // and where in it
  uint32_t signs_[2];      // byte c of the segment's signs
  uint32_t payload_signs_[2];  // of those after the sketch, as if segment 0 were there
  Bits64 bits_[2];
  uint32_t sign_low_[2];
  uint32_t sign_high_[2];
};

}  // namespace polarquant::cuda
