// SPDX-License-Identifier: MIT
// Filters over the rows of an inverted file.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/scan/layout/code_lists.h"
#include "src/scan/search/filter_rules.h"
#include "src/scan/search/list_search.h"
#include "src/scan/search/made_later.h"
#include "src/scan/search/row_filter.h"

namespace polarquant {

class KeptVectors;

/// The rows of lists that a filter keeps, asked when it is made: a rule over list_offsets.
class KeptListRows final : public FilterRule {
 public:
  /// `filter`: over ids.
  KeptListRows(const CodeLists& lists, const RowFilter& filter);

  int64_t count() const { return kept_.count(); }
  /// Those of one list.
  int64_t count(int64_t list) const;
  /// body(list_offset) for each, rising.
  template <typename Body>
  void for_each(const Body& body) const {
    for (size_t list = 0; list + 1 < first_.size(); ++list) {
      for (int64_t at = first_[list]; at < first_[list + 1]; at += 64) {
        uint64_t left = kept_.words()[static_cast<size_t>(at / 64)];
        for (; left != 0; left &= left - 1)
          body(list_offset(static_cast<int64_t>(list), at - first_[list] + std::countr_zero(left)));
      }
    }
  }
  const MadeLater<KeptVectors>& vectors() const { return vectors_; }

  /// Of one list.
  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    kept_.masks(place(first), count, masks);
  }
  uint64_t members(const int64_t* list_offsets, int count) const override;
  std::optional<int64_t> counted() const override { return count(); }

 private:
  int64_t place(int64_t list_offset) const {
    return first_[static_cast<size_t>(list_of_offset(list_offset))] + row_of_offset(list_offset);
  }

  std::vector<int64_t> first_;  // (lists + 1): the place of a list's first row, a multiple of 64
  KeptRows kept_;               // by place
  MadeLater<KeptVectors> vectors_;
};

/// Puts −1 in the place of lists, (nq, nprobe), −1 for none, that have no row that is kept; returns
/// how many each query's others have.
std::vector<int64_t> leave_out_lists(const KeptListRows& kept, int64_t nq, int64_t nprobe,
                                     int64_t* lists);

/// A filter over ids, which is borrowed, or KeptListRows, as one over list_offsets.
RowFilter filter_of_list_offsets(const CodeLists& lists, const RowFilter& filter);

/// About how many rows of the lists a filter over ids keeps, judged by at most 2,048 of them.
int64_t estimate_kept(const CodeLists& lists, int64_t rows, const RowFilter& filter);

}  // namespace polarquant
