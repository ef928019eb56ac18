// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/row_filter.h"

namespace polarquant::capi {

/// The caller's filter as FAISS asks for it.
class FilterSelector final : public ::faiss::IDSelector {
 public:
  explicit FilterSelector(RowFilter filter) : filter_(std::move(filter)) {}
  bool is_member(int64_t id) const override { return filter_.keeps(id); }

 private:
  RowFilter filter_;
};

}  // namespace polarquant::capi
