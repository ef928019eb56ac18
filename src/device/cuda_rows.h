// SPDX-License-Identifier: MIT
// Rows of an index on one CUDA device: all of them, or a part that begins with a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/device/cuda_library.h"
#include "src/device/cuda_parts.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant::device {

class CudaRows {
 public:
  /// Copies these rows of `spans`, each of which begins with a block. `lists`: the lists that they
  /// form in an inverted file, else null. Failures name the device, here and below.
  CudaRows(const BlockLayout& layout, const cuda::CodeDescription& code,
           std::span<const BlockRows> spans, PartRange rows, const cuda::ListsDescription* lists,
           int32_t device);

  /// Copies of some rows of `from`, side by side on its device.
  CudaRows(const CudaRows& from, const cuda::CodeDescription& code, std::span<const int64_t> rows);

  const PartRange& rows() const { return rows_; }
  size_t memory_bytes() const;
  /// Searches these rows, which are numbered from 0.
  void search(const cuda::SearchRequest& request) const;
  void score(const cuda::ListedRowsRequest& request) const;
  /// Copies rows of these, (n), to the host: codes in the row format of `layout`, theirs.
  void read(const BlockLayout& layout, std::span<const int64_t> rows, uint8_t* codes) const;

 private:
  PartRange rows_;
  int32_t device_;
  DeviceIndexHandle device_index_;
};

}  // namespace polarquant::device
