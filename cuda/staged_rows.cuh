// SPDX-License-Identifier: MIT
// A warp copies the rows that it decodes next to shared memory, while it decodes others.
#pragma once

#include <cstdint>

#include "cuda/row_format.h"

namespace polarquant::cuda {

/// What is copied at once.
inline constexpr uint32_t kPieceBytes = 16;
inline constexpr int kSegmentPairs = 32;
inline constexpr int kSegmentValues = 2 * kSegmentPairs;
inline constexpr int kSegmentUnits = kSegmentValues / kUnitValues;

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
    // The first and the last piece may have bytes of other rows; swapped places are within 128.
    buffer_bytes = (bytes + 2 * kPieceBytes + 127) / 128 * 128;
  }
};

/// A warp's rows in two buffers, of which one is filled while the other is decoded.
/// kSwaps: pieces of neighbouring lines change places, so that lanes that read the same piece of
/// rows of 32, 64 or 128 bytes read other banks.
template <bool kSwaps>
class StagedRows {
 public:
  /// Where a piece lies in a buffer.
  __device__ static uint32_t place_of(uint32_t piece) {
    return (kSwaps ? piece ^ (piece >> 3 & 7) : piece) * kPieceBytes;
  }

  /// `codes` of a head; nothing is read from `end` on. The warp takes lanes.rows rows from
  /// first_row on, then those `step` further on; step·row_bytes is a multiple of 16.
  __device__ StagedRows(const SegmentLanes& lanes, const uint8_t* codes, const uint8_t* end,
                        uint32_t row_bytes, int64_t first_row, int64_t step, uint8_t* buffers)
      : end_(end),
        step_bytes_(step * row_bytes),
        buffer_bytes_(lanes.buffer_bytes),
        buffers_(buffers) {
    const uint8_t* first = codes + first_row * row_bytes;
    shift_ = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(first) % kPieceBytes);
    next_ = first - shift_;
    pieces_ =
        (shift_ + static_cast<uint32_t>(lanes.rows) * row_bytes + kPieceBytes - 1) / kPieceBytes;
  }

  /// Bytes of a buffer before its first row.
  __device__ uint32_t shift() const { return shift_; }

  /// Begins to copy the next rows; at most two may be begun and not taken.
  __device__ void begin() {
    const uint32_t lane = threadIdx.x % 32;
    auto to = static_cast<uint32_t>(
        __cvta_generic_to_shared(buffers_ + (begun_ & 1) * buffer_bytes_ + place_of(lane)));
    const uint8_t* from = next_ + lane * kPieceBytes;
    const bool is_whole = next_ + pieces_ * kPieceBytes <= end_;
#pragma unroll 1
    for (int left = static_cast<int>(pieces_ - lane); left > 0; left -= 32) {
      if (is_whole) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      } else {
        copy_last(to, from, end_);
      }
      from += 32 * kPieceBytes;
      // Four lines on, pieces are swapped with those four away.
      to = (to + 32 * kPieceBytes) ^ (kSwaps ? 4 * kPieceBytes : 0);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    next_ += step_bytes_;
    ++begun_;
  }

  /// Waits for the rows that were begun first. `more`: others were begun after them.
  __device__ const uint8_t* take(bool more) {
    if (more) {
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncwarp();
    return buffers_ + (taken_++ & 1) * buffer_bytes_;
  }
  /// The lanes are done with what was taken, which the next `begin` overwrites.
  __device__ static void release() { __syncwarp(); }

 private:
  /// Words before the end, then zeros: an array may end within a piece.
  __device__ static __noinline__ void copy_last(uint32_t to, const uint8_t* from,
                                                const uint8_t* end) {
#pragma unroll
    for (uint32_t i = 0; i < kPieceBytes; i += 4) {
      const uint32_t word = from + i < end ? *reinterpret_cast<const uint32_t*>(from + i) : 0;
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + i), "r"(word) : "memory");
    }
  }

  const uint8_t* next_;
  const uint8_t* end_;
  int64_t step_bytes_;
  uint32_t shift_;
  uint32_t pieces_;
  uint32_t buffer_bytes_;
  uint8_t* buffers_;
  uint32_t begun_ = 0;
  uint32_t taken_ = 0;
};

}  // namespace polarquant::cuda
