// SPDX-License-Identifier: MIT
// Decoders of 64 coordinates of a row, which lies in shared memory. They have one form: a table,
// made by all threads of a block; a decoder, made once for a lane's segment; `load` takes the row's
// words, `point` gives the two coordinates of a pair, which the compiler must know. Coordinates are
// a column's scale short of what they are.
#pragma once

#include "cuda/row_launch.cuh"
#include "cuda/segment_rows.h"
#include "cuda/staged_rows.cuh"

namespace polarquant::cuda {

inline constexpr int kRowWarps = kRowThreads / 32;

/// load_code_factors of a code that lies on a word.
__device__ inline CodeFactors load_word_factors(const RowDescription& rows, const uint32_t* at) {
  const uint32_t word = *at;
  CodeFactors factors;
  if (rows.factor_form == FactorForm::wide16) {
    factors = {lower_wide(word), upper_wide(word, rows.is_l2 == 0)};
  } else if (rows.factor_form == FactorForm::float16) {
    factors = {__half2float(__ushort_as_half(static_cast<unsigned short>(word))),
               __half2float(__ushort_as_half(static_cast<unsigned short>(word >> 16)))};
  } else {
    factors = {__uint_as_float(word), __uint_as_float(at[1])};
  }
  return {factors.scale * rows.scale_unit, factors.bias * rows.bias_unit};
}

/// Codes of one trellis, for kStep bits a pair.
template <int kStep, bool kSigns>
class TrellisSegment {
  static constexpr int kCells = 256;
  static constexpr int kCopiesLog2 = 4;
  static constexpr int kEntryShift = kCopiesLog2 + 3;  // of an entry's bytes, to log2
  static_assert(sizeof(float2) == 1U << 3);

 public:
  static constexpr bool kSwaps = false;
  static constexpr bool kFactors = true;

  /// All cells, with copies side by side: 16 lanes read eight bytes each at once, from as many
  /// banks.
  struct Table {
    float2 entries[kCells << kCopiesLog2];

    __device__ void fill(const TablePoint* table) {
      for (int i = threadIdx.x; i < kCells << kCopiesLog2; i += kRowThreads) {
        const TablePoint point = table[i >> kCopiesLog2];
        entries[i] = {point.x, point.y};
      }
    }
  };

  __device__ TrellisSegment(const RowDescription& rows, const Table& table, uint32_t shift,
                            int row_in_buffer, int segment)
      : table_(reinterpret_cast<const uint8_t*>(table.entries)),
        copy_(threadIdx.x % (1U << kCopiesLog2) * sizeof(float2)),
        row_(shift + static_cast<uint32_t>(row_in_buffer) * rows.row_bytes),
        first_(static_cast<int>(rows.trellis.codes_offset) / 4 + segment * kStep),
        before_(segment > 0 ? first_ - 1 : first_ - 1 + rows.units / kSegmentUnits * kStep),
        signs_(static_cast<int>(rows.trellis.signs_offset) / 4 + 2 * segment),
        factors_(static_cast<int>(rows.factors_offset) / 4) {}

  __device__ void load(const uint8_t* buffer) {
    const auto* row = reinterpret_cast<const uint32_t*>(buffer + row_);
    words_[0] = row[before_];
#pragma unroll
    for (int i = 0; i < kStep; ++i) words_[1 + i] = row[first_ + i];
    if constexpr (kSigns) {
      x_signs_ = row[signs_];
      y_signs_ = row[signs_ + 1];
    }
  }
  __device__ CodeFactors factors(const RowDescription& rows, const uint8_t* buffer) const {
    return load_word_factors(rows, reinterpret_cast<const uint32_t*>(buffer + row_) + factors_);
  }
  __device__ float2 point(int pair) const {
    const int bit = 32 + (pair + 1) * kStep - 8;
    const int shift = bit % 32 - kEntryShift;
    const uint32_t low = words_[bit / 32];
    uint32_t entry = shift >= 0 ? low >> shift : low << -shift;
    if (bit % 32 > 24) entry = __funnelshift_r(low, words_[bit / 32 + 1], shift);
    constexpr uint32_t kMask = (kCells - 1U) << kEntryShift;
    float2 point = *reinterpret_cast<const float2*>(table_ + ((entry & kMask) | copy_));
    if constexpr (kSigns) {
      point.x = with_sign(point.x, x_signs_, pair);
      point.y = with_sign(point.y, y_signs_, pair);
    }
    return point;
  }

  /// Where number i of a row's units stands among its pairs' coordinates: units have eight x, then
  /// eight y.
  __device__ static int place_of(int i) {
    return (i / kUnitValues * kUnitPairs + i % kUnitPairs) * 2 + i % kUnitValues / kUnitPairs;
  }
  __device__ static float column_scale(const RowDescription& /*rows*/, int /*i*/) { return 1; }

 private:
  const uint8_t* table_;
  uint32_t copy_;
  uint32_t row_;
  int first_;
  int before_;
  int signs_;
  int factors_;
  uint32_t words_[1 + kStep];
  uint32_t x_signs_ = 0;
  uint32_t y_signs_ = 0;
};

/// PolarPair4x4: a byte a pair, its angle's index in the low four bits, its radius's above.
class PairSegment {
  static constexpr int kAngles = 16;

 public:
  static constexpr bool kSwaps = true;
  static constexpr bool kFactors = false;

  /// Cosines and sines: one line of shared memory, so that lanes with different angles read
  /// different banks.
  struct alignas(128) Table {
    float2 entries[kAngles];

    __device__ void fill(const TablePoint* table) {
      if (threadIdx.x < kAngles)
        entries[threadIdx.x] = {table[threadIdx.x].x, table[threadIdx.x].y};
    }
  };

  __device__ PairSegment(const RowDescription& rows, const Table& table, uint32_t /*shift*/,
                         int row_in_buffer, int segment)
      : table_(reinterpret_cast<const uint8_t*>(table.entries)) {
    const uint32_t first = static_cast<uint32_t>(row_in_buffer) * rows.row_bytes / kPieceBytes +
                           2 * static_cast<uint32_t>(segment);
    for (uint32_t i = 0; i < 2; ++i) places_[i] = StagedRows<kSwaps>::place_of(first + i);
  }

  __device__ void load(const uint8_t* buffer) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint4 fields = *reinterpret_cast<const uint4*>(buffer + places_[i]);
      fields_[4 * i] = fields.x;
      fields_[4 * i + 1] = fields.y;
      fields_[4 * i + 2] = fields.z;
      fields_[4 * i + 3] = fields.w;
    }
  }
  __device__ float2 point(int pair) const {
    constexpr int kEntryShift = 3;
    const uint32_t fields = fields_[pair / 4];
    const int shift = 8 * (pair % 4) - kEntryShift;
    const uint32_t entry = shift < 0 ? fields << -shift : fields >> shift;
    constexpr uint32_t kMask = (kAngles - 1U) << kEntryShift;
    const float2 angle = *reinterpret_cast<const float2*>(table_ + (entry & kMask));
    const float radius = small_float(fields >> (8 * (pair % 4) + 4) & 15);
    return {radius * angle.x, radius * angle.y};
  }

  __device__ static int place_of(int i) { return i; }
  /// The step of the pair's radius.
  __device__ static float column_scale(const RowDescription& rows, int i) {
    return rows.steps[i / 2];
  }

 private:
  const uint8_t* table_;
  uint32_t places_[2];
  uint32_t fields_[8];
};

/// Calls launch.run<Decoder>() for the rows' segments.
template <typename Launch>
void with_segments(const RowDescription& rows, const Launch& launch) {
  if (rows.kind == RowKind::pairs) return launch.template run<PairSegment>();
  const auto with_signs = [&]<int kStep>() {
    rows.trellis.has_signs != 0 ? launch.template run<TrellisSegment<kStep, true>>()
                                : launch.template run<TrellisSegment<kStep, false>>();
  };
  switch (rows.trellis.step) {
    case 1:
      return with_signs.template operator()<1>();
    case 2:
      return with_signs.template operator()<2>();
    case 3:
      return with_signs.template operator()<3>();
    case 4:
      return with_signs.template operator()<4>();
    case 5:
      return with_signs.template operator()<5>();
    case 6:
      return with_signs.template operator()<6>();
    case 7:
      return with_signs.template operator()<7>();
    default:
      return with_signs.template operator()<8>();
  }
}

}  // namespace polarquant::cuda
