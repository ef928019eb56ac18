// SPDX-License-Identifier: MIT
// Rows that a filter keeps, on their devices. Few are copied side by side: searches that ask for
// nothing else then read these alone. Of many the bits are copied, which searches then need not
// bring.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/cuda_rows.h"
#include "src/device/device_threads.h"
#include "src/scan/search/filter_rules.h"

namespace polarquant::device {

class CudaKeptRows final : public RowCopiesElsewhere {
 public:
  /// Of all parts, each on its device.
  CudaKeptRows(const CudaParts& parts, const cuda::CodeDescription& code, const KeptRows& kept,
               bool are_few, DeviceThreads* threads);

  /// The copies of part i's rows; null where bits were copied.
  const CudaRows* copies(size_t i) const { return copies_.empty() ? nullptr : copies_[i].get(); }
  /// Part i's bits; null where rows were copied.
  const cuda::DeviceBits* bits(size_t i) const { return bits_.empty() ? nullptr : bits_[i].get(); }
  /// Gives rows of results, which are numbers of copies, their numbers in part i; −1 stays.
  void number(size_t i, std::span<int64_t> rows) const;

 private:
  CudaParts copies_;
  std::vector<std::vector<int64_t>> rows_;  // whose copies they are, in their part
  std::vector<DeviceBitsHandle> bits_;
};

}  // namespace polarquant::device
