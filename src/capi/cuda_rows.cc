// SPDX-License-Identifier: MIT
#include "src/capi/cuda_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/core/aligned_buffer.h"

namespace polarquant::capi {
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
    if (span.rests != nullptr) {
      write(full, span.data, span.rests);
    } else {
      for (int64_t first = 0; first < full; first += kStagedBlocks)
        copy_parts(span, first, std::min(kStagedBlocks, full - first));
    }
    if (span.rows % kBlockRows != 0) copy_last(span, full);
  }

 private:
  void write(int64_t blocks, const void* fronts, const void* rests) {
    if (blocks == 0) return;
    call_cuda(cuda_functions().write_blocks, index_, next_block_, blocks, fronts, rests);
    next_block_ += blocks;
  }

  void copy_parts(const BlockRows& span, int64_t first, int64_t blocks) {
    const size_t front_bytes = layout_.front_bytes(kBlockRows);
    const size_t rest_bytes = kBlockRows * layout_.rest_bytes();
    for (int64_t i = 0; i < blocks; ++i) {
      const RowPlace place = span.place(layout_, (first + i) * kBlockRows);
      const auto at = static_cast<size_t>(i);
      std::memcpy(fronts_.data() + at * front_bytes, place.front, front_bytes);
      if (rest_bytes != 0) std::memcpy(rests_.data() + at * rest_bytes, place.rest, rest_bytes);
    }
    write(blocks, fronts_.data(), rests_.data());
  }

  /// A block with room for fewer rows has its parts elsewhere.
  void copy_last(const BlockRows& span, int64_t block) {
    std::fill_n(fronts_.data(), layout_.front_bytes(kBlockRows), uint8_t{0});
    std::fill_n(rests_.data(), kBlockRows * layout_.rest_bytes(), uint8_t{0});
    std::vector<uint8_t> code(layout_.row_format_bytes());
    for (int64_t row = block * kBlockRows; row < span.rows; ++row) {
      layout_.get_row(span.place(layout_, row), code.data());
      layout_.put_row(code.data(), {fronts_.data(), rests_.data(), kBlockRows,
                                    static_cast<int>(row % kBlockRows)});
    }
    write(1, fronts_.data(), rests_.data());
  }

  const BlockLayout& layout_;
  cuda::DeviceIndex* index_;
  AlignedVector<uint8_t> fronts_;
  AlignedVector<uint8_t> rests_;
  int64_t next_block_ = 0;
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
                   std::span<const BlockRows> spans, PartRange rows, int32_t device)
    : rows_(rows), device_(device) {
  name_device(device, [&] {
    require(rows.count <= cuda::kMaxRows, StatusCode::unsupported,
            "{} rows are to be there; up to {} fit one", rows.count, cuda::kMaxRows);
    device_index_.reset(call_cuda(cuda_functions().create, device, &code, rows.count));
    BlockCopier copier(layout, device_index_.get());
    int64_t span_first = 0;
    for (const BlockRows& span : spans) {
      const int64_t first = std::max<int64_t>(rows.first - span_first, 0);
      const int64_t end = std::min(rows.first + rows.count - span_first, span.rows);
      if (first < end) copier.copy(part_of(layout, span, first, end));
      span_first += span.rows;
    }
    call_cuda(cuda_functions().finish, device_index_.get());
  });
}

size_t CudaRows::memory_bytes() const { return cuda_functions().memory_bytes(device_index_.get()); }

void CudaRows::search(const cuda::SearchRequest& request) const {
  name_device(device_, [&] { call_cuda(cuda_functions().search, device_index_.get(), &request); });
}

}  // namespace polarquant::capi
