// SPDX-License-Identifier: MIT
// Filters over the rows of an inverted file.
#pragma once

#include <algorithm>
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
  KeptListRows(const InvertedFile& file, const RowFilter& filter);

  int64_t count() const { return kept_.count(); }
  /// The share of all rows that these are.
  double share() const {
    return static_cast<double>(count()) / static_cast<double>(std::max<int64_t>(rows_, 1));
  }
  /// Those of one list.
  int64_t count(int64_t list) const { return counts_[static_cast<size_t>(list)]; }
  /// Lists that have any, rising.
  const std::vector<int32_t>& lists() const { return lists_; }
  /// body(list_offset) for each of a list, rising.
  template <typename Body>
  void for_each(int64_t list, const Body& body) const {
    const int64_t first = first_[static_cast<size_t>(list)];
    for (int64_t at = first; at < first_[static_cast<size_t>(list) + 1]; at += 64) {
      uint64_t left = kept_.words()[static_cast<size_t>(at / 64)];
      for (; left != 0; left &= left - 1)
        body(list_offset(list, at - first + std::countr_zero(left)));
    }
  }
  const MadeLater<KeptVectors>& vectors() const { return vectors_; }
  /// The rows' codes, of a file whose lists have none.
  const MadeLater<CodeLists>& copies() const { return copies_; }
  /// What devices have of this filter.
  const MadeLater<RowCopiesElsewhere>& copies_elsewhere() const { return copies_elsewhere_; }
  /// A bit for each row, list by list, each of which begins a word.
  const std::vector<uint64_t>& words() const { return kept_.words(); }

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
  int64_t rows_ = 0;            // of all lists
  std::vector<int64_t> counts_;
  std::vector<int32_t> lists_;
  MadeLater<KeptVectors> vectors_;
  MadeLater<CodeLists> copies_;
  MadeLater<RowCopiesElsewhere> copies_elsewhere_;
};

/// What share of an inverted file's rows a filter keeps, 1 where that is not known.
double share_kept(const RowFilter& filter);

/// Puts −1 in the place of a query's lists, (nq, nprobe), nearest first, after those that have
/// `wanted` rows that are kept, k at least.
void leave_out_lists(const KeptListRows& kept, int64_t wanted, int64_t nq, int64_t nprobe,
                     int64_t* lists);

/// A filter over ids, which is borrowed, or KeptListRows, as one over list_offsets.
RowFilter filter_of_list_offsets(const CodeLists& lists, const RowFilter& filter);

/// How many rows of the lists a filter over ids keeps; judged by at most 2,048 of them where ids
/// are not positions.
int64_t estimate_kept(const InvertedFile& file, int64_t rows, const RowFilter& filter);

}  // namespace polarquant
