// SPDX-License-Identifier: MIT
// The lists of an inverted file on a device: where they begin, their centroids and centres.
#pragma once

#include <cstdint>

#include "cuda/device_buffer.h"
#include "cuda/lists_view.h"

namespace polarquant::cuda {

class DeviceLists {
 public:
  /// For an index of `blocks` blocks on the current device.
  DeviceLists(const ListsDescription& lists, int dim, int64_t blocks);

  const ListsView& view() const { return view_; }
  /// Rows of all lists.
  int64_t rows() const { return rows_; }
  /// Rows of the longest list.
  int64_t longest() const { return longest_; }
  /// The mean rows of a list, without empty lists; at least 1.
  int64_t mean() const { return mean_; }
  size_t memory_bytes() const { return memory_.bytes(); }

 private:
  ListsView view_ = {};
  int64_t rows_ = 0;
  int64_t longest_ = 0;
  int64_t mean_ = 1;
  DeviceBuffer memory_;
};

}  // namespace polarquant::cuda
