// SPDX-License-Identifier: MIT
// Copies rows to a device, where every block is full and sketches and payloads lie apart.
#pragma once

#include <cstdint>
#include <span>

#include "src/core/aligned_buffer.h"
#include "src/device/cuda_library.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant::device {

/// Blocks copied through a buffer at a time.
inline constexpr int64_t kStagedBlocks = 256;

/// Which blocks of the device are written, in order.
struct WrittenBlocks {
  int64_t first = 0;                 // this and those after it, or:
  std::span<const int64_t> numbers;  // these, where there are some
};

class BlockCopier {
 public:
  BlockCopier(const BlockLayout& layout, cuda::DeviceIndex* index, const WrittenBlocks& blocks);

  /// Rows that begin a block.
  void copy(const BlockRows& span);
  /// Copies the blocks that still wait.
  void finish() { flush(); }

 private:
  void write(int64_t blocks, const void* sketches, const void* payloads);
  void flush();
  /// The place of one more block.
  WritableRow next_block();
  void stage(const RowPlace& block);
  void stage_last(const BlockRows& span, int64_t block);

  const BlockLayout& layout_;
  cuda::DeviceIndex* index_;
  WrittenBlocks blocks_;
  AlignedVector<uint8_t> sketches_;
  AlignedVector<uint8_t> payloads_;
  int64_t written_ = 0;
  int64_t staged_ = 0;
};

/// Rows first … end−1 of a span: both begin a block, or `end` is the span's.
BlockRows part_of(const BlockLayout& layout, const BlockRows& span, int64_t first, int64_t end);

}  // namespace polarquant::device
