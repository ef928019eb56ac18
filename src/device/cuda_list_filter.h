// SPDX-License-Identifier: MIT
// A filter over an inverted file's rows as devices take it, which then search the lists that
// list_search does, and rank their rows as it does.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/interface.h"
#include "src/device/cuda_lists.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/search_request.h"

namespace polarquant::device {

class CudaListFilter {
 public:
  /// Every row takes part.
  CudaListFilter() = default;
  /// The rows of `filter`: KeptListRows, which is held, where it is known which lists have rows.
  /// `wanted_rows`: of these, after which a query needs no further list.
  CudaListFilter(const CudaLists& lists, RowFilter filter, int64_t wanted_rows);

  /// A word for each block of rows, or null.
  const uint64_t* allowed() const { return allowed_; }
  /// (lists), or null.
  const cuda::ListFilter* lists() const { return lists_.empty() ? nullptr : lists_.data(); }
  int64_t wanted_rows() const { return wanted_rows_; }
  /// Whether a search ranks few rows of a list by their score alone: (nq).
  std::vector<uint8_t> ranks_few(const ScanCodec& codec, const SearchRequest& request) const;

 private:
  RowFilter filter_;
  const uint64_t* allowed_ = nullptr;
  std::vector<cuda::ListFilter> lists_;
  int64_t wanted_rows_ = 0;
  double share_ = 1;
};

}  // namespace polarquant::device
