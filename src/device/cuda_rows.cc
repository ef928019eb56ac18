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

/// Copies spans of rows to a device, where every block is full and sketches and payloads lie apart.
class BlockCopier {
 public:
  BlockCopier(const BlockLayout& layout, cuda::DeviceIndex* index)
      : layout_(layout),
        index_(index),
        sketches_(kStagedBlocks * layout.sketch_bytes(kBlockRows)),
        payloads_(kStagedBlocks * kBlockRows * layout.payload_bytes()) {}

  void copy(const BlockRows& span) {
    const int64_t full = span.rows / kBlockRows;
    if (span.payloads != nullptr && full >= kStagedBlocks) {
      flush();
      write(full, span.data, span.payloads);
    } else {
      for (int64_t block = 0; block < full; ++block) stage(span.place(layout_, block * kBlockRows));
    }
    if (span.rows % kBlockRows != 0) stage_last(span, full);
  }
  /// Copies the blocks that still wait.
  void finish() { flush(); }

 private:
  void write(int64_t blocks, const void* sketches, const void* payloads) {
    if (blocks == 0) return;
    call_cuda(cuda_functions().write_blocks, index_, next_block_, blocks, sketches, payloads);
    next_block_ += blocks;
  }
  void flush() {
    write(staged_, sketches_.data(), payloads_.data());
    staged_ = 0;
  }

  /// The place of one more row.
  WritableRow next_row() {
    if (staged_ == kStagedBlocks) flush();
    const auto at = static_cast<size_t>(staged_++);
    return {sketches_.data() + at * layout_.sketch_bytes(kBlockRows),
            payloads_.data() + at * kBlockRows * layout_.payload_bytes(), kBlockRows, 0};
  }
  void stage(const RowPlace& block) {
    const WritableRow to = next_row();
    const size_t payload_bytes = kBlockRows * layout_.payload_bytes();
    std::memcpy(to.sketch, block.sketch, layout_.sketch_bytes(kBlockRows));
    if (payload_bytes != 0) std::memcpy(to.payload, block.payload, payload_bytes);
  }
  /// A block with a smaller capacity has its parts elsewhere.
  void stage_last(const BlockRows& span, int64_t block) {
    WritableRow to = next_row();
    std::fill_n(to.sketch, layout_.sketch_bytes(kBlockRows), uint8_t{0});
    std::fill_n(to.payload, kBlockRows * layout_.payload_bytes(), uint8_t{0});
    std::vector<uint8_t> code(layout_.row_format_bytes());
    for (int64_t row = block * kBlockRows; row < span.rows; ++row) {
      layout_.get_row(span.place(layout_, row), code.data());
      to.row = static_cast<int>(row % kBlockRows);
      layout_.put_row(code.data(), to);
    }
  }

  const BlockLayout& layout_;
  cuda::DeviceIndex* index_;
  AlignedVector<uint8_t> sketches_;
  AlignedVector<uint8_t> payloads_;
  int64_t next_block_ = 0;
  int64_t staged_ = 0;
};

/// Rows first … end−1 of a span: both begin a block, or `end` is the span's.
BlockRows part_of(const BlockLayout& layout, const BlockRows& span, int64_t first, int64_t end) {
  const auto blocks = static_cast<size_t>(first / kBlockRows);
  BlockRows part = span;
  part.data += blocks * span.sketch_stride(layout);
  if (span.payloads != nullptr) part.payloads += blocks * span.payload_stride(layout);
  part.rows = end - first;
  part.first_row += first;
  return part;
}

}  // namespace

CudaRows::CudaRows(const BlockLayout& layout, const RowsDescription& described,
                   std::span<const BlockRows> spans, PartRange rows, int32_t device)
    : rows_(rows), device_(device) {
  name_device(device, [&] {
    require(rows.count <= cuda::kMaxRows, StatusCode::unsupported,
            "{} rows are to be there; up to {} fit one", rows.count, cuda::kMaxRows);
    device_index_.reset(call_cuda(cuda_functions().create, device, &described.code, rows.count));
    if (described.lists != nullptr)
      call_cuda(cuda_functions().set_lists, device_index_.get(), described.lists);
    if (described.queries != nullptr)
      call_cuda(cuda_functions().set_queries, device_index_.get(), described.queries);
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

CudaRows::CudaRows(const CudaRows& from, const cuda::CodeDescription& code,
                   std::span<const int64_t> rows)
    : rows_{0, std::ssize(rows)}, device_(from.device_) {
  name_device(device_, [&] {
    device_index_.reset(call_cuda(cuda_functions().create, device_, &code, rows_.count));
    call_cuda(cuda_functions().copy_rows, device_index_.get(), from.device_index_.get(),
              rows.data());
    call_cuda(cuda_functions().finish, device_index_.get());
  });
}

size_t CudaRows::memory_bytes() const { return cuda_functions().memory_bytes(device_index_.get()); }

void CudaRows::read(const BlockLayout& layout, std::span<const int64_t> rows,
                    uint8_t* codes) const {
  constexpr auto kStagedRows = static_cast<size_t>(kStagedBlocks * kBlockRows);
  AlignedVector<uint8_t> sketches(kStagedBlocks * layout.sketch_bytes(kBlockRows));
  AlignedVector<uint8_t> payloads(kStagedRows * layout.payload_bytes() + 1);
  name_device(device_, [&] {
    for (; !rows.empty(); rows = rows.subspan(std::min(kStagedRows, rows.size()))) {
      const auto count = std::min<int64_t>(std::ssize(rows), kStagedRows);
      call_cuda(cuda_functions().read_rows, device_index_.get(), count, rows.data(),
                sketches.data(), payloads.data());
      const BlockRows read = {sketches.data(), static_cast<int64_t>(kStagedRows), 0,
                              payloads.data()};
      for (int64_t row = 0; row < count; ++row, codes += layout.row_format_bytes())
        layout.get_row(read.place(layout, row), codes);
    }
  });
}

void CudaRows::score(const cuda::ListedRowsRequest& request) const {
  name_device(device_,
              [&] { call_cuda(cuda_functions().score_listed, device_index_.get(), &request); });
}

void CudaRows::find_memory(std::span<const void* const> pointers, int32_t* found) const {
  name_device(device_, [&] {
    call_cuda(cuda_functions().find_memory, device_index_.get(),
              static_cast<int32_t>(pointers.size()), pointers.data(), found);
  });
}

void CudaRows::copy(void* to, const void* from, size_t bytes, void* stream) const {
  name_device(device_, [&] {
    call_cuda(cuda_functions().copy, device_index_.get(), to, from, bytes, stream);
  });
}

DeviceBitsHandle CudaRows::copy_bits(const uint64_t* words, const cuda::ListFilter* lists) const {
  DeviceBitsHandle bits;
  name_device(device_, [&] {
    bits.reset(call_cuda(cuda_functions().create_bits, device_index_.get(), words, lists));
  });
  return bits;
}

PreparedSearchHandle CudaRows::prepare_search(const cuda::SearchRequest& shape,
                                              std::span<const int64_t> ids) const {
  PreparedSearchHandle search;
  name_device(device_, [&] {
    search.reset(call_cuda(cuda_functions().create_search, device_index_.get(), &shape,
                           ids.empty() ? nullptr : ids.data()));
  });
  return search;
}

void CudaRows::search(const cuda::SearchRequest& request) const {
  name_device(device_, [&] { call_cuda(cuda_functions().search, device_index_.get(), &request); });
}

}  // namespace polarquant::device
