// SPDX-License-Identifier: MIT
// Rows of one trellis in whole segments: a warp copies those that it decodes next to shared memory,
// and a lane decodes a segment of one.
#pragma once

#include "cuda/row_launch.cuh"
#include "cuda/trellis_rows.h"

namespace polarquant::cuda {

inline constexpr int kTrellisWarps = kRowThreads / 32;
inline constexpr int kSegmentPairs = 32;
inline constexpr int kSegmentValues = 2 * kSegmentPairs;
inline constexpr int kSegmentUnits = kSegmentValues / kUnitValues;
inline constexpr int kTrellisCells = 256;
/// Copies of the table, to log2: lanes read different banks, since 16 read at once.
inline constexpr int kCellCopiesLog2 = 4;
inline constexpr int kPieceBytes = 16;

/// How a warp's lanes share its rows: lane i has row i mod rows, segment i div rows. So lanes side
/// by side mostly read the same numbers of a query, which shared memory serves at once.
struct SegmentLanes {
  int segments;
  int rows;  // that a warp decodes at once, a power of two
  uint32_t buffer_bytes;

  explicit SegmentLanes(const RowDescription& description)
      : segments(description.units / kSegmentUnits), rows(32) {
    while (32 / rows < segments) rows /= 2;
    const auto bytes = static_cast<uint32_t>(rows) * description.row_bytes;
    // The first and the last piece may have bytes of other rows.
    buffer_bytes = (bytes / kPieceBytes + 2) * kPieceBytes;
  }
};

/// The rows of a warp, two buffers of them in shared memory: one is filled while the other is
/// decoded.
class StagedRows {
 public:
  /// `codes` of a head; nothing is read from `end` on. The warp takes rows first_row …, then those
  /// `step` further on.
  __device__ StagedRows(const SegmentLanes& lanes, const uint8_t* codes, const uint8_t* end,
                        uint32_t row_bytes, int64_t first_row, int64_t step, uint8_t* buffers)
      : next_(codes + first_row * row_bytes),
        end_(end),
        step_bytes_(step * row_bytes),
        shift_(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(next_) % kPieceBytes)),
        bytes_(static_cast<uint32_t>(lanes.rows) * row_bytes),
        of_lane_(shift_ + threadIdx.x % static_cast<uint32_t>(lanes.rows) * row_bytes),
        buffer_bytes_(lanes.buffer_bytes),
        buffers_(buffers) {}

  /// Begins to copy the next rows; at most two may be begun and not taken.
  __device__ void begin() {
    const uint32_t lane = threadIdx.x % 32 * kPieceBytes;
    const uint8_t* from = next_ - shift_ + lane;
    auto to = static_cast<uint32_t>(
        __cvta_generic_to_shared(buffers_ + (begun_ & 1) * buffer_bytes_ + lane));
    const bool is_whole = next_ + bytes_ + kPieceBytes <= end_;
    for (uint32_t at = lane; at < shift_ + bytes_; at += kLanesBytes) {
      if (is_whole) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      } else {
        copy_last(to, from);
      }
      from += kLanesBytes;
      to += kLanesBytes;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    next_ += step_bytes_;
    ++begun_;
  }

  /// Waits for the rows that were begun first, and gives the lane's; those taken before are
  /// overwritten by the next `begin`. `more`: others were begun after them.
  __device__ const uint32_t* take(bool more) {
    if (more) {
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncwarp();
    const uint8_t* buffer = buffers_ + (taken_ & 1) * buffer_bytes_;
    ++taken_;
    return reinterpret_cast<const uint32_t*>(buffer + of_lane_);
  }

 private:
  static constexpr uint32_t kLanesBytes = 32 * kPieceBytes;

  /// Bytes before the end, then zeros.
  __device__ void copy_last(uint32_t to, const uint8_t* from) const {
    const int64_t left = end_ - from;
    const uint32_t bytes =
        left >= kPieceBytes ? kPieceBytes : static_cast<uint32_t>(left > 0 ? left : 0);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(left > 0 ? from : end_ - kPieceBytes), "r"(bytes));
  }

  const uint8_t* next_;
  const uint8_t* end_;
  int64_t step_bytes_;
  uint32_t shift_;  // the same for all: a step is a multiple of 32 bytes
  uint32_t bytes_;
  uint32_t of_lane_;
  uint32_t buffer_bytes_;
  uint8_t* buffers_;
  uint32_t begun_ = 0;
  uint32_t taken_ = 0;
};

/// load_code_factors of a code that lies on a word.
__device__ inline CodeFactors load_word_factors(const RowDescription& rows, const uint32_t* code) {
  const uint32_t* at = code + rows.factors_offset / 4;
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

/// All entries, with copies side by side: 16 lanes read eight bytes each at once, from as many
/// banks.
struct SharedCells {
  float2 entries[kTrellisCells << kCellCopiesLog2];

  /// By all threads of a block; a barrier must follow.
  __device__ void fill(const TablePoint* table) {
    for (int i = threadIdx.x; i < kTrellisCells << kCellCopiesLog2; i += kRowThreads) {
      const TablePoint point = table[i >> kCellCopiesLog2];
      entries[i] = {point.x, point.y};
    }
  }
};

/// A lane's segment of a row.
template <int kStep, bool kSigns>
class SegmentDecoder {
 public:
  __device__ SegmentDecoder(const RowDescription& rows, int segment, const SharedCells& cells)
      : cells_(reinterpret_cast<const uint8_t*>(cells.entries)),
        copy_(threadIdx.x % (1U << kCellCopiesLog2) * sizeof(float2)),
        first_(static_cast<int>(rows.trellis.codes_offset) / 4 + segment * kStep),
        before_(segment > 0 ? first_ - 1 : first_ - 1 + rows.units / kSegmentUnits * kStep),
        signs_(static_cast<int>(rows.trellis.signs_offset) / 4 + 2 * segment) {}

  __device__ void load(const uint32_t* row) {
    words_[0] = row[before_];
#pragma unroll
    for (int i = 0; i < kStep; ++i) words_[1 + i] = row[first_ + i];
    if constexpr (kSigns) {
      x_signs_ = row[signs_];
      y_signs_ = row[signs_ + 1];
    }
  }
  /// Pair `pair` of the segment, which must be known to the compiler.
  __device__ float2 point(int pair) const {
    constexpr int kEntryShift = kCellCopiesLog2 + 3;
    static_assert(sizeof(float2) == 1U << 3);
    const int bit = 32 + (pair + 1) * kStep - 8;
    const int shift = bit % 32 - kEntryShift;
    const uint32_t low = words_[bit / 32];
    uint32_t entry = shift >= 0 ? low >> shift : low << -shift;
    if (bit % 32 > 24) entry = __funnelshift_r(low, words_[bit / 32 + 1], shift);
    constexpr uint32_t kMask = (kTrellisCells - 1U) << kEntryShift;
    float2 point = *reinterpret_cast<const float2*>(cells_ + ((entry & kMask) | copy_));
    if constexpr (kSigns) {
      point.x = with_sign(point.x, x_signs_, pair);
      point.y = with_sign(point.y, y_signs_, pair);
    }
    return point;
  }

 private:
  const uint8_t* cells_;
  uint32_t copy_;
  int first_;
  int before_;
  int signs_;
  uint32_t words_[1 + kStep];
  uint32_t x_signs_ = 0;
  uint32_t y_signs_ = 0;
};

/// Blocks of a kernel that the device runs at the same time.
template <auto kernel>
int64_t resident_blocks(size_t shared, int multiprocessors) {
  int resident = 0;
  POLAR_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kRowThreads, shared));
  return int64_t{resident} * multiprocessors;
}

/// Calls launch.run<step, signs>() for the rows' trellis.
template <typename Launch>
void with_trellis(const LoneTrellis& trellis, const Launch& launch) {
  const auto with_signs = [&]<int kStep>() {
    trellis.has_signs != 0 ? launch.template run<kStep, true>()
                           : launch.template run<kStep, false>();
  };
  switch (trellis.step) {
    case 1: return with_signs.template operator()<1>();
    case 2: return with_signs.template operator()<2>();
    case 3: return with_signs.template operator()<3>();
    case 4: return with_signs.template operator()<4>();
    case 5: return with_signs.template operator()<5>();
    case 6: return with_signs.template operator()<6>();
    case 7: return with_signs.template operator()<7>();
    default: return with_signs.template operator()<8>();
  }
}

}  // namespace polarquant::cuda
