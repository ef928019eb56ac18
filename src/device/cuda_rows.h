// SPDX-License-Identifier: MIT
// Rows of an index on one CUDA device: all of them, or a part that begins with a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cuda_library.h"
#include "src/device/cuda_parts.h"
#include "src/device/rows_to_add.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant::device {

/// What a device is told of rows.
struct RowsDescription {
  const cuda::CodeDescription& code;
  const cuda::ListsDescription* lists;    // that they form in an inverted file, else null
  const cuda::QueryDescription* queries;  // null: the device prepares none
};

class CudaRows {
 public:
  /// Copies these rows of `spans`, each of which begins with a block. Failures name the device,
  /// here and below.
  CudaRows(const BlockLayout& layout, const RowsDescription& described,
           std::span<const BlockRows> spans, PartRange rows, int32_t device);

  /// The rows of `before`, all of an index, and others, on its device; `lists`: those that they
  /// form together, else null. What `before` has is not copied to the device again.
  CudaRows(const CudaRows& before, const BlockLayout& layout, const RowsToAdd& added,
           const cuda::ListsDescription* lists);
  /// Copies of some rows of `from`, side by side on its device.
  CudaRows(const CudaRows& from, const cuda::CodeDescription& code, std::span<const int64_t> rows);

  const PartRange& rows() const { return rows_; }
  int32_t device() const { return device_; }
  size_t memory_bytes() const;
  /// Searches these rows, which are numbered from 0.
  void search(const cuda::SearchRequest& request) const;
  void score(const cuda::ListedRowsRequest& request) const;
  /// Copies a filter's bits to the device: a word for each block of these rows; and what it keeps
  /// of each list where they form some, (lists).
  DeviceBitsHandle copy_bits(const uint64_t* words, const cuda::ListFilter* lists = nullptr) const;
  /// FunctionTable::create_search.
  PreparedSearchHandle prepare_search(const cuda::SearchRequest& shape,
                                      std::span<const int64_t> ids) const;
  /// FunctionTable::find_memory, and its copy.
  void find_memory(std::span<const void* const> pointers, int32_t* found) const;
  void copy(void* to, const void* from, size_t bytes, void* stream) const;
  /// Copies rows of these, (n), to the host: codes in the row format of `layout`, theirs.
  void read(const BlockLayout& layout, std::span<const int64_t> rows, uint8_t* codes) const;

 private:
  PartRange rows_;
  int32_t device_;
  DeviceIndexHandle device_index_;
};

/// The rows of an index, a part on each of its devices, or all of them on each. Searches that were
/// prepared for a part have it, too.
using CudaParts = std::vector<std::shared_ptr<const CudaRows>>;

}  // namespace polarquant::device
