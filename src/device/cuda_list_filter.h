// SPDX-License-Identifier: MIT
// A filter over an inverted file's rows as devices take it, which then search the lists that
// list_search does, and rank their rows as it does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/interface.h"
#include "src/device/cuda_lists.h"
#include "src/device/cuda_rows.h"
#include "src/device/device_threads.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/search_request.h"

namespace polarquant::device {

/// Rows of lists that a prepared filter keeps, on the devices that have their rows.
class CudaKeptLists final : public RowCopiesElsewhere {
 public:
  CudaKeptLists(const CudaLists& lists, const KeptListRows& kept, const CudaParts& parts,
                DeviceThreads* threads);

  /// (lists)
  const std::vector<cuda::ListFilter>& lists() const { return lists_; }
  /// Of part i.
  const cuda::DeviceBits* bits(size_t i) const { return bits_[i].get(); }

 private:
  std::vector<cuda::ListFilter> lists_;
  std::vector<DeviceBitsHandle> bits_;
};

class CudaListFilter {
 public:
  /// The rows of `filter`: KeptListRows, which is held, where it is known which lists have rows.
  /// `wanted_rows`: of these, after which a query needs no further list. `there`: the same rows on
  /// devices, CudaKeptLists, or null.
  CudaListFilter(const CudaLists& lists, RowFilter filter, int64_t wanted_rows,
                 std::shared_ptr<const RowCopiesElsewhere> there);

  /// A word for each block of rows, or null; null, too, where devices have bits.
  const uint64_t* allowed() const { return allowed_; }
  /// Those of part i, or null.
  const cuda::DeviceBits* bits(size_t i) const { return there_ ? there().bits(i) : nullptr; }
  /// (lists), or null.
  const cuda::ListFilter* lists() const { return known().empty() ? nullptr : known().data(); }
  int64_t wanted_rows() const { return wanted_rows_; }
  /// Whether a search ranks few rows of a list by their score alone: (nq).
  std::vector<uint8_t> ranks_few(const ScanCodec& codec, const SearchRequest& request) const;

 private:
  const CudaKeptLists& there() const { return static_cast<const CudaKeptLists&>(*there_); }
  /// What is kept of each list, (lists); empty where that is not known.
  const std::vector<cuda::ListFilter>& known() const { return there_ ? there().lists() : lists_; }

  RowFilter filter_;
  std::shared_ptr<const RowCopiesElsewhere> there_;
  const uint64_t* allowed_ = nullptr;
  std::vector<cuda::ListFilter> lists_;
  int64_t wanted_rows_ = 0;
  double share_ = 1;
};

}  // namespace polarquant::device
