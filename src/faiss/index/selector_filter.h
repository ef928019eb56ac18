// SPDX-License-Identifier: MIT
// FAISS's selectors as filters of ours, and the way back.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/scan/search/row_filter.h"

namespace polarquant {

/// What a selector keeps, which is borrowed; null keeps all. FAISS's own selectors are asked for 64
/// rows at a time, a class of the caller's row by row.
RowFilter filter_of_selector(const ::faiss::IDSelector* selector);

/// The rows of `rows` that a selector names: bit row % 64 of word row / 64.
std::vector<uint64_t> selected_rows(const ::faiss::IDSelector& selector, int64_t rows);

/// A filter in FAISS's form.
class FilterSelector final : public ::faiss::IDSelector {
 public:
  explicit FilterSelector(RowFilter filter) : filter_(std::move(filter)) {}
  bool is_member(int64_t id) const override { return filter_.keeps(id); }
  /// For search parameters: null where every row takes part.
  ::faiss::IDSelector* pointer() { return filter_.keeps_all() ? nullptr : this; }
  const RowFilter& filter() const { return filter_; }

 private:
  RowFilter filter_;
};

}  // namespace polarquant
