// SPDX-License-Identifier: MIT
// Rows as callers hold them, and 16 numbers of a row decoded by one thread: windows and fields by
// tables (CellDecoder). Trees and pairs are in polar_units.cuh. Decoders have one form: made once
// for a unit, `decode` gives a row's numbers up to a factor, which it returns.
#pragma once

#include <cuda_fp16.h>

#include "cuda/group8_decode.cuh"
#include "cuda/row_format.h"
#include "cuda/wide_floats.cuh"

namespace polarquant::cuda {

/// One row: its code, and its group's. Nothing is read from `end` on.
struct RowPlace {
  const uint8_t* code;
  const uint8_t* group;  // null: the row is floats
  const uint8_t* end;
};

__device__ inline __noinline__ uint64_t load_last_bits(const uint8_t* from, const uint8_t* end) {
  uint64_t bits = 0;
  for (int i = 0; i < 8 && from + i < end; ++i) bits |= static_cast<uint64_t>(from[i]) << (8 * i);
  return bits;
}
/// 64 bits from any address; bytes from `end` on count as 0.
__device__ inline uint64_t load_bits_before(const uint8_t* from, const uint8_t* end) {
  constexpr int kBytesRead = 12;
  return from + kBytesRead <= end ? load_bits(from) : load_last_bits(from, end);
}
/// Up to 16 bits from any bit on; reads only the bytes that hold them.
__device__ inline uint32_t load_field(const uint8_t* code, uint64_t first, int bits) {
  const uint8_t* byte = code + first / 8;
  const int shift = static_cast<int>(first % 8);
  uint32_t window = byte[0];
  if (shift + bits > 8) window |= static_cast<uint32_t>(byte[1]) << 8;
  if (shift + bits > 16) window |= static_cast<uint32_t>(byte[2]) << 16;
  return window >> shift & ((1U << bits) - 1);
}
__device__ inline float load_float(const uint8_t* from) {
  uint32_t bits = 0;
  for (int i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(from[i]) << (8 * i);
  return __uint_as_float(bits);
}
/// read_short_float.
__device__ inline float short_float(bool wide, uint32_t bits) {
  if (wide) return wide_to_float(bits);
  return (bits & 0x7c00U) == 0x7c00U
             ? 0.0F
             : __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}
__device__ inline uint32_t load_two_bytes(const uint8_t* from) {
  if (reinterpret_cast<uintptr_t>(from) % 2 == 0) return *reinterpret_cast<const uint16_t*>(from);
  return from[0] | static_cast<uint32_t>(from[1]) << 8;
}
__device__ inline float load_short_float(bool wide, const uint8_t* from) {
  return short_float(wide, load_two_bytes(from));
}
/// A number below 2^23 as a float: conversions run at an eighth of other instructions' rate.
__device__ inline float small_float(uint32_t number) {
  return __uint_as_float(0x4b000000U | number) - 8388608.0F;
}

/// For codes whose rows share a group's.
__device__ inline RowPlace place_in_group(const RowDescription& rows, const uint8_t* codes,
                                          const uint8_t* end, int64_t n, int64_t row) {
  const int64_t group = row / rows.group_rows;
  const int64_t full = n / rows.group_rows;
  const auto group_bytes = static_cast<int64_t>(rows.group_bytes);
  if (group == full) {
    const int64_t in_tail = row - full * rows.group_rows;
    return {codes + full * group_bytes + in_tail * rows.tail_row_bytes, nullptr, end};
  }
  const uint8_t* group_codes = codes + group * group_bytes;
  const int64_t in_group = row - group * rows.group_rows;
  return {group_codes + rows.rows_offset + in_group * rows.row_bytes, group_codes, end};
}

/// Steps through the rows of a head.
template <typename Decoder>
class RowWalk {
 public:
  __device__ RowWalk(const RowDescription& rows, const uint8_t* codes, const uint8_t* end,
                     int64_t n, int64_t row, int64_t step)
      : rows_(rows),
        codes_(codes),
        end_(end),
        n_(n),
        row_(row),
        step_(step),
        code_(codes + row * rows.row_bytes),
        step_bytes_(step * rows.row_bytes) {}
  __device__ RowPlace place() const {
    if constexpr (Decoder::kGrouped) return place_in_group(rows_, codes_, end_, n_, row_);
    return {code_, code_, end_};
  }
  __device__ void advance() {
    if constexpr (Decoder::kGrouped) row_ += step_;
    code_ += step_bytes_;
  }

 private:
  const RowDescription& rows_;
  const uint8_t* codes_;
  const uint8_t* end_;
  int64_t n_;
  int64_t row_;
  int64_t step_;
  const uint8_t* code_;
  int64_t step_bytes_;
};

struct CodeFactors {
  float scale;
  float bias;
};
/// For codes with factors; load_factors of src/codec.
__device__ inline CodeFactors load_code_factors(const RowDescription& rows, const uint8_t* code) {
  const uint8_t* at = code + rows.factors_offset;
  if (rows.factor_form == FactorForm::wide16) {
    const uint32_t both = load_two_bytes(at) | load_two_bytes(at + 2) << 16;
    return {lower_wide(both) * rows.scale_unit, upper_wide(both, rows.is_l2 == 0) * rows.bias_unit};
  }
  const auto half = [](const uint8_t* from) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(load_two_bytes(from))));
  };
  const bool halves = rows.factor_form == FactorForm::float16;
  const float scale = halves ? half(at) : load_float(at);
  const float bias = halves ? half(at + 2) : load_float(at + 4);
  return {scale * rows.scale_unit, bias * rows.bias_unit};
}

/// Tables in shared memory, with so many copies of each entry that lanes with different entries
/// seldom wait for each other: the banks serve 16 lanes' eight bytes at once.
class SharedPoints {
 public:
  /// Copies, to log2: as many of 16 as fit into `bytes`.
  __host__ __device__ static int copies_log2(int entries, size_t bytes) {
    int log2 = 4;
    while (log2 > 0 && (static_cast<size_t>(entries) << log2) * sizeof(TablePoint) > bytes) --log2;
    return log2;
  }
  /// Fills them; all threads of the block, before a barrier.
  __device__ SharedPoints(const RowDescription& rows, float2* shared, int copies_log2)
      : points_(shared + (threadIdx.x & ((1U << copies_log2) - 1))), log2_(copies_log2) {
    const int count = rows.entries << copies_log2;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const TablePoint point = rows.table[i >> copies_log2];
      shared[i] = {point.x, point.y};
    }
  }
  __device__ float2 operator[](uint32_t entry) const { return points_[entry << log2_]; }
  /// In shared memory.
  __device__ uint32_t address() const {
    return static_cast<uint32_t>(__cvta_generic_to_shared(points_));
  }

 private:
  const float2* points_;
  int log2_;
};

__device__ inline float with_sign(float value, uint32_t signs, int bit) {
  return __uint_as_float(__float_as_uint(value) ^ (signs << (31 - bit) & 0x80000000U));
}

/// Eight x, then eight y, by a unit's windows and signs.
__device__ inline void decode_windows(const UnitPart& part, const RowPlace& row,
                                      const SharedPoints& points, float (&y)[kUnitValues]) {
  const uint8_t* ring = row.code + part.codes_offset;
  const int step = part.bits;
  // Window i of a group8 is bits i·step … i·step+7; the first ones begin at the ring's end.
  const bool wraps = part.first == 0 && step < 8;
  const uint8_t* from = wraps ? ring : ring + part.first * step - 1 + (step >> 3);
  uint64_t bits = load_bits_before(from, row.end);
  if (wraps) {
    bits = bits << (8 - step) | ring_end(ring, part.ring_bits, 8 - step);
  } else {
    bits >>= step & 7;
  }
  const uint32_t signs = part.signs_offset < 0
                             ? 0
                             : plane_signs(row.code + part.signs_offset, part.group8, part.count);
#pragma unroll
  for (int i = 0; i < kUnitPairs; ++i) {
    const float2 cell = points[part.table + (static_cast<uint32_t>(bits) & 255)];
    y[i] = with_sign(cell.x, signs, i);
    y[kUnitPairs + i] = with_sign(cell.y, signs, kUnitPairs + i);
    bits >>= step;
  }
}

/// For codes of one trellis: a unit has windows, or nothing after the last coordinate.
class TrellisDecoder {
 public:
  static constexpr bool kGrouped = false;
  static constexpr bool kCopies = true;
  static constexpr bool kFactors = true;

  __device__ TrellisDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : part_(rows.cells[unit].part[0]), points_(points) {}

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    if (part_.kind == PartKind::windows) {
      decode_windows(part_, row, points_, y);
    } else {
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) y[i] = 0;
    }
    return 1;
  }

 private:
  UnitPart part_;
  SharedPoints points_;
};

/// For all others, by tables: units differ in kind.
class CellDecoder {
 public:
  static constexpr bool kGrouped = false;
  static constexpr bool kCopies = true;
  static constexpr bool kFactors = true;

  __device__ CellDecoder(const RowDescription& rows, int unit, const SharedPoints& points)
      : unit_(rows.cells[unit]), points_(points), wide_floats_(rows.wide_floats != 0) {}

  __device__ float decode(const RowPlace& row, float (&y)[kUnitValues]) const {
    float first[kUnitValues];
    decode_part(unit_.part[0], row, first);
#pragma unroll
    for (int i = 0; i < kUnitValues; ++i) y[i] = first[i];
    if (unit_.part[1].kind != PartKind::none) {
      decode_part(unit_.part[1], row, first);
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) y[i] = __fmaf_rn(unit_.part[1].scale, first[i], y[i]);
    }
    const UnitPart& part = unit_.part[0];
    if (part.norm_offset < 0) return part.scale;
    return part.scale * load_short_float(wide_floats_, row.code + part.norm_offset);
  }

 private:
  __device__ void decode_part(const UnitPart& part, const RowPlace& row,
                              float (&y)[kUnitValues]) const {
    if (part.kind == PartKind::windows) {
      decode_windows(part, row, points_, y);
    } else if (part.kind == PartKind::fields) {
      decode_fields(part, row, y);
    } else {
#pragma unroll
      for (int i = 0; i < kUnitValues; ++i) y[i] = 0;
    }
  }

  __device__ void decode_fields(const UnitPart& part, const RowPlace& row,
                                float (&y)[kUnitValues]) const {
    const uint8_t* from = row.code + part.codes_offset;
    uint32_t signs = 0;
    if (part.signs_offset >= 0) {
      const uint8_t* plane = row.code + part.signs_offset;
      signs = plane[0] | static_cast<uint32_t>(plane[1]) << 8;
    }
    const uint32_t mask = (1U << part.bits) - 1;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Eight fields of 8 bits begin at a byte; others leave space for their first bits.
      const uint32_t first = part.first + half * kUnitPairs * part.bits;
      uint64_t bits = load_bits_before(from + first / 8, row.end) >> (first % 8);
#pragma unroll
      for (int i = 0; i < kUnitPairs; ++i) {
        const float value = points_[part.table + (static_cast<uint32_t>(bits) & mask)].x;
        y[half * kUnitPairs + i] = with_sign(value, signs, half * kUnitPairs + i);
        bits >>= part.bits;
      }
    }
  }

  CellUnit unit_;
  SharedPoints points_;
  bool wide_floats_;
};

}  // namespace polarquant::cuda
