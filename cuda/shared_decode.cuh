// SPDX-License-Identifier: MIT
// octet_decode.cuh for rows and tables in shared memory, where every instruction counts: addresses
// of 32 bits, windows shifted to where they are a table's address with one mask, for any step.
#pragma once

#include <cstdint>

#include "cuda/octet_decode.cuh"

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

struct Bits64 {
  uint32_t low;
  uint32_t high;
};

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

  /// `bits`: an index from bit index_shift on, with anything around it.
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

/// One row of a stage, as the thread of its octets c (of every segment) walks over it.
struct SharedRow {
  uint32_t codes;       // octet c of segment 0: where its windows' bits begin, or bytes of x
  uint32_t front_word;  // signs of the segments in the front, byte c
  uint32_t rest_word;   // those behind, as if segment 0 were there
  uint32_t plane;       // signs in coordinate order
  uint32_t ring;
};

__device__ inline SharedRow shared_row(const CodeView& code, const StageView& stage,
                                       const RowBytes& row, int c) {
  SharedRow shared;
  const uint32_t rest = shared_address(row.rest);
  shared.ring = rest + stage.codes_offset;
  shared.codes = stage.kind == CodeKind::bytes
                     ? shared.ring + 8 * c
                     : shared.ring + c * stage.step_bits - 1 + (stage.step_bits >> 3);
  shared.front_word = shared_address(row.front) + c;
  shared.rest_word = rest - 8 * code.front_words + c;
  shared.plane = rest + stage.signs_offset;
  return shared;
}

__device__ inline uint32_t shared_signs(const CodeView& code, const StageView& stage,
                                        const SharedRow& row, const RowBytes& bytes, int segment,
                                        int c) {
  if (stage.signs == SignPlace::none) return 0;
  uint32_t word;
  if (stage.signs == SignPlace::words) {
    word = segment < code.front_words ? row.front_word + 64 * segment : row.rest_word + 8 * segment;
  } else {
    const int count = segment_count(code.dim, segment);
    if (count != kSegmentLanes)
      return plane_signs(bytes.rest + stage.signs_offset + 8 * segment, c, count);
    word = row.plane + 8 * segment + c;
  }
  return load_byte(word) | load_byte(word + 4) << 8;
}

/// The octet's four words; see decode_octet.
__device__ inline void decode_shared(const CodeView& code, const StageView& stage,
                                     const SharedTable& table, const SharedRow& row,
                                     const RowBytes& bytes, int segment, int c, uint32_t words[4]) {
  const uint32_t signs = shared_signs(code, stage, row, bytes, segment, c);
  uint32_t entries[kOctetPairs];
  if (stage.kind == CodeKind::windows) {
    const int step = stage.step_bits;
    Bits64 bits =
        shift_right(load_bits_shared(row.codes + segment * kOctetsPerSegment * step), step & 7);
    if (segment == 0 && c == 0 && step < 8) {
      // Its first bits are the ring's last.
      const uint64_t first =
          octet_windows(bytes.rest + stage.codes_offset, step, 0, code.pairs * step);
      bits = {static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)};
    }
    look_up_four(table, bits, step, entries);
    look_up_four(table, shift_right(bits, 4 * step), step, entries + 4);
  } else {
    const uint32_t x = row.codes + segment * kSegmentLanes;
    const uint32_t y = x + (segment_count(code.dim, segment) + 1) / 2;
    const Bits64 of_x = load_bits_shared(x);
    const Bits64 of_y = load_bits_shared(y);
    uint32_t other[kOctetPairs];
    look_up_four(table, {of_x.low, 0}, 8, entries);
    look_up_four(table, {of_x.high, 0}, 8, entries + 4);
    look_up_four(table, {of_y.low, 0}, 8, other);
    look_up_four(table, {of_y.high, 0}, 8, other + 4);
#pragma unroll
    for (int i = 0; i < kOctetPairs; ++i) entries[i] = __byte_perm(entries[i], other[i], 0x5410);
  }
#pragma unroll
  for (int u = 0; u < 4; ++u)
    words[u] = __byte_perm(entries[u], entries[u + 4], signed_selector(signs, u));
}

/// A row of a plain code (tile_plan.h), as the thread of its octets c walks over it.
struct PlainRow {
  uint32_t codes;  // as SharedRow
  uint32_t front_word;
  uint32_t rest_word;
  Bits64 first;  // the windows of the ring's first octet
};

/// The same for all rows.
struct PlainCode {
  int step;
  int octet_shift;  // from loaded bits to a table's places
  int segment_bytes;
  int front_words;
  uint32_t front_stride;
  uint32_t rest_stride;
};

__device__ inline PlainCode plain_code(const CodeView& code) {
  const int step = code.stage[0].step_bits;
  const bool has_signs = code.stage[0].signs != SignPlace::none;
  return {step,
          7 - step,
          kOctetsPerSegment * step,
          has_signs ? code.front_words : 0,
          has_signs ? 64U : 0U,
          has_signs ? 8U : 0U};
}

/// `zeros`: the address of eight bytes that are 0: the signs of codes without any.
__device__ inline PlainRow plain_row(const CodeView& code, const RowBytes& row, int c,
                                     uint32_t zeros) {
  const StageView& stage = code.stage[0];
  const SharedRow shared = shared_row(code, stage, row, c);
  PlainRow plain = {shared.codes, shared.front_word, shared.rest_word, {0, 0}};
  if (stage.signs == SignPlace::none) plain.front_word = plain.rest_word = zeros;
  if (c == 0) {
    const uint64_t first =
        first_windows(row.rest + stage.codes_offset, stage.step_bits, code.pairs * stage.step_bits);
    // As bits that are loaded: `step` bits further up.
    plain.first = shift_left({static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)},
                             stage.step_bits);
  }
  return plain;
}

__device__ inline void decode_plain(const PlainCode& code, const SharedTable& table,
                                    const PlainRow& row, int segment, bool is_first,
                                    uint32_t words[4]) {
  const uint32_t word = segment < code.front_words ? row.front_word + segment * code.front_stride
                                                   : row.rest_word + segment * code.rest_stride;
  const uint32_t signs = load_byte(word) | load_byte(word + 4) << 8;
  Bits64 bits = load_bits_shared(row.codes + segment * code.segment_bytes);
  if (is_first) bits = row.first;
  const Bits64 low = shift_left(bits, code.octet_shift);
  const Bits64 high = shift_right(low, 4 * code.step);
  uint32_t entries[kOctetPairs];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    entries[i] = table.entry(__funnelshift_r(low.low, low.high, i * code.step));
    entries[4 + i] = table.entry(__funnelshift_r(high.low, high.high, i * code.step));
  }
#pragma unroll
  for (int u = 0; u < 4; ++u)
    words[u] = __byte_perm(entries[u], entries[u + 4], signed_selector(signs, u));
}

}  // namespace polarquant::cuda
