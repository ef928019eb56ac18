// SPDX-License-Identifier: MIT
#include "src/device/cuda_rows.h"

#include <algorithm>

#include "src/core/aligned_buffer.h"
#include "src/device/block_copier.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant::device {
namespace {

void require_rows_fit(int64_t rows) {
  require(rows <= cuda::kMaxRows, StatusCode::unsupported,
          "{} rows are to be there; up to {} fit one", rows, cuda::kMaxRows);
}

}  // namespace

CudaRows::CudaRows(const BlockLayout& layout, const RowsDescription& described,
                   std::span<const BlockRows> spans, PartRange rows, int32_t device)
    : rows_(rows), device_(device) {
  name_device(device, [&] {
    require_rows_fit(rows.count);
    device_index_.reset(call_cuda(cuda_functions().create, device, &described.code, rows.count));
    if (described.lists != nullptr)
      call_cuda(cuda_functions().set_lists, device_index_.get(), described.lists);
    if (described.queries != nullptr)
      call_cuda(cuda_functions().set_queries, device_index_.get(), described.queries);
    BlockCopier copier(layout, device_index_.get(), {});
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

CudaRows::CudaRows(const CudaRows& before, const BlockLayout& layout, const RowsToAdd& added,
                   const cuda::ListsDescription* lists)
    : rows_{0, added.rows}, device_(before.device_) {
  name_device(device_, [&] {
    require_rows_fit(added.rows);
    device_index_.reset(call_cuda(cuda_functions().extend, before.device_index_.get(), added.rows,
                                  lists != nullptr ? added.sources.data() : nullptr));
    if (lists != nullptr) call_cuda(cuda_functions().set_lists, device_index_.get(), lists);
    BlockCopier copier(layout, device_index_.get(), {added.first_block, added.numbers});
    for (const BlockRows& span : added.spans) copier.copy(span);
    copier.finish();
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
