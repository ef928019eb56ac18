// SPDX-License-Identifier: MIT
#include "src/device/block_copier.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace polarquant::device {

BlockCopier::BlockCopier(const BlockLayout& layout, cuda::DeviceIndex* index,
                         const WrittenBlocks& blocks)
    : layout_(layout),
      index_(index),
      blocks_(blocks),
      sketches_(kStagedBlocks * layout.sketch_bytes(kBlockRows)),
      payloads_(kStagedBlocks * kBlockRows * layout.payload_bytes()) {}

void BlockCopier::copy(const BlockRows& span) {
  const int64_t full = span.rows / kBlockRows;
  if (span.payloads != nullptr && full >= kStagedBlocks) {
    flush();
    write(full, span.data, span.payloads);
  } else {
    for (int64_t block = 0; block < full; ++block) stage(span.place(layout_, block * kBlockRows));
  }
  if (span.rows % kBlockRows != 0) stage_last(span, full);
}

void BlockCopier::write(int64_t blocks, const void* sketches, const void* payloads) {
  if (blocks == 0) return;
  if (blocks_.numbers.empty()) {
    call_cuda(cuda_functions().write_blocks, index_, blocks_.first + written_, blocks, sketches,
              payloads);
  } else {
    call_cuda(cuda_functions().put_blocks, index_, blocks, blocks_.numbers.data() + written_,
              sketches, payloads);
  }
  written_ += blocks;
}

void BlockCopier::flush() {
  write(staged_, sketches_.data(), payloads_.data());
  staged_ = 0;
}

WritableRow BlockCopier::next_block() {
  if (staged_ == kStagedBlocks) flush();
  const auto at = static_cast<size_t>(staged_++);
  return {sketches_.data() + at * layout_.sketch_bytes(kBlockRows),
          payloads_.data() + at * kBlockRows * layout_.payload_bytes(), kBlockRows, 0};
}

void BlockCopier::stage(const RowPlace& block) {
  const WritableRow to = next_block();
  const size_t payload_bytes = kBlockRows * layout_.payload_bytes();
  std::memcpy(to.sketch, block.sketch, layout_.sketch_bytes(kBlockRows));
  if (payload_bytes != 0) std::memcpy(to.payload, block.payload, payload_bytes);
}

// A block with a smaller capacity has its parts elsewhere.
void BlockCopier::stage_last(const BlockRows& span, int64_t block) {
  WritableRow to = next_block();
  std::fill_n(to.sketch, layout_.sketch_bytes(kBlockRows), uint8_t{0});
  std::fill_n(to.payload, kBlockRows * layout_.payload_bytes(), uint8_t{0});
  std::vector<uint8_t> code(layout_.row_format_bytes());
  for (int64_t row = block * kBlockRows; row < span.rows; ++row) {
    layout_.get_row(span.place(layout_, row), code.data());
    to.row = static_cast<int>(row % kBlockRows);
    layout_.put_row(code.data(), to);
  }
}

BlockRows part_of(const BlockLayout& layout, const BlockRows& span, int64_t first, int64_t end) {
  const auto blocks = static_cast<size_t>(first / kBlockRows);
  BlockRows part = span;
  part.data += blocks * span.sketch_stride(layout);
  if (span.payloads != nullptr) part.payloads += blocks * span.payload_stride(layout);
  part.rows = end - first;
  part.first_row += first;
  return part;
}

}  // namespace polarquant::device
