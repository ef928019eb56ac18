// SPDX-License-Identifier: MIT
#include "src/device/cuda_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant::device {
namespace {

/// Blocks copied through a buffer at a time.
constexpr int64_t kStagedBlocks = 256;

/// Copies spans of rows to a device, where every block is full and fronts and rests lie apart.
class BlockCopier {
 public:
  BlockCopier(const BlockLayout& layout, cuda::DeviceIndex* index)
      : layout_(layout),
        index_(index),
        fronts_(kStagedBlocks * layout.front_bytes(kBlockRows)),
        rests_(kStagedBlocks * kBlockRows * layout.rest_bytes()) {}

  void copy(const BlockRows& span) {
    const int64_t full = span.rows / kBlockRows;
    if (span.rests != nullptr && full >= kStagedBlocks) {
      flush();
      write(full, span.data, span.rests);
    } else {
      for (int64_t block = 0; block < full; ++block) stage(span.place(layout_, block * kBlockRows));
    }
    if (span.rows % kBlockRows != 0) stage_last(span, full);
  }
  /// What was copied last.
  void finish() { flush(); }

 private:
  void write(int64_t blocks, const void* fronts, const void* rests) {
    if (blocks == 0) return;
    call_cuda(cuda_functions().write_blocks, index_, next_block_, blocks, fronts, rests);
    next_block_ += blocks;
  }
  void flush() {
    write(staged_, fronts_.data(), rests_.data());
    staged_ = 0;
  }

  /// Room for one more block.
  RowRoom next_room() {
    if (staged_ == kStagedBlocks) flush();
    const auto at = static_cast<size_t>(staged_++);
    return {fronts_.data() + at * layout_.front_bytes(kBlockRows),
            rests_.data() + at * kBlockRows * layout_.rest_bytes(), kBlockRows, 0};
  }
  void stage(const RowPlace& block) {
    const RowRoom to = next_room();
    const size_t rest_bytes = kBlockRows * layout_.rest_bytes();
    std::memcpy(to.front, block.front, layout_.front_bytes(kBlockRows));
    if (rest_bytes != 0) std::memcpy(to.rest, block.rest, rest_bytes);
  }
  /// A block with room for fewer rows has its parts elsewhere.
  void stage_last(const BlockRows& span, int64_t block) {
    RowRoom to = next_room();
    std::fill_n(to.front, layout_.front_bytes(kBlockRows), uint8_t{0});
    std::fill_n(to.rest, kBlockRows * layout_.rest_bytes(), uint8_t{0});
    std::vector<uint8_t> code(layout_.row_format_bytes());
    for (int64_t row = block * kBlockRows; row < span.rows; ++row) {
      layout_.get_row(span.place(layout_, row), code.data());
      to.row = static_cast<int>(row % kBlockRows);
      layout_.put_row(code.data(), to);
    }
  }

  const BlockLayout& layout_;
  cuda::DeviceIndex* index_;
  AlignedVector<uint8_t> fronts_;
  AlignedVector<uint8_t> rests_;
  int64_t next_block_ = 0;
  int64_t staged_ = 0;
};

/// Rows first … end−1 of a span: both begin a block, or `end` is the span's.
BlockRows part_of(const BlockLayout& layout, const BlockRows& span, int64_t first, int64_t end) {
  const auto blocks = static_cast<size_t>(first / kBlockRows);
  BlockRows part = span;
  part.data += blocks * span.front_stride(layout);
  if (span.rests != nullptr) part.rests += blocks * span.rest_stride(layout);
  part.rows = end - first;
  part.first_row += first;
  return part;
}

template <typename Body>
void name_device(int32_t device, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    fail(error.code(), "CUDA device {}: {}", device, error.what());
  }
}

}  // namespace

CudaRows::CudaRows(const BlockLayout& layout, const cuda::CodeDescription& code,
                   std::span<const BlockRows> spans, PartRange rows,
                   const cuda::ListsDescription* lists, int32_t device)
    : rows_(rows), device_(device) {
  name_device(device, [&] {
    require(rows.count <= cuda::kMaxRows, StatusCode::unsupported,
            "{} rows are to be there; up to {} fit one", rows.count, cuda::kMaxRows);
    device_index_.reset(call_cuda(cuda_functions().create, device, &code, rows.count));
    if (lists != nullptr) call_cuda(cuda_functions().set_lists, device_index_.get(), lists);
    BlockCopier copier(layout, device_index_.get());
    int64_t span_first = 0;
    for (const BlockRows& span : spans) {
      const int64_t first = std::max<int64_t>(rows.first - span_first, 0);
      const int64_t end = std::min(rows.first + rows.count - span_first, span.rows);
      if (first < end) copier.copy(part_of(layout, span, first, end));
      span_first += div_up(span.rows, kBlockRows) * kBlockRows;
    }
    copier.finish();
    call_cuda(cuda_functions().finish, device_index_.get());
  });
}

size_t CudaRows::memory_bytes() const { return cuda_functions().memory_bytes(device_index_.get()); }

void CudaRows::search(const cuda::SearchRequest& request) const {
  name_device(device_, [&] { call_cuda(cuda_functions().search, device_index_.get(), &request); });
}

}  // namespace polarquant::device
