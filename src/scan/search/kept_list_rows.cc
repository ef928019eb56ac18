// SPDX-License-Identifier: MIT
#include "src/scan/search/kept_list_rows.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"

namespace polarquant {
namespace {

/// Where lists begin among the bits of all.
std::vector<int64_t> first_places(const CodeLists& lists) {
  std::vector<int64_t> first = {0};
  for (int64_t list = 0; list < lists.count(); ++list)
    first.push_back(first.back() + 64 * div_up(lists.rows(list), 64));
  return first;
}

KeptRows ask_for_ids(const CodeLists& lists, const RowFilter& filter,
                     const std::vector<int64_t>& first) {
  std::vector<uint64_t> words(static_cast<size_t>(first.back() / 64));
  for (int64_t list = 0; list < lists.count(); ++list) {
    if (lists.rows(list) == 0) continue;
    filter.member_masks(lists.ids(list), lists.rows(list),
                        words.data() + first[static_cast<size_t>(list)] / 64);
  }
  return {std::move(words), first.back()};
}

/// The same, where the filter keeps few ids, by these.
KeptRows find_by_ids(std::span<const int64_t> list_offsets, const KeptRows& ids,
                     const std::vector<int64_t>& first) {
  std::vector<uint64_t> words(static_cast<size_t>(first.back() / 64));
  for (size_t at = 0; at < ids.words().size(); ++at) {
    for (uint64_t left = ids.words()[at]; left != 0; left &= left - 1) {
      const int64_t found = list_offsets[64 * at + static_cast<size_t>(std::countr_zero(left))];
      if (found < 0) continue;
      const int64_t place =
          first[static_cast<size_t>(list_of_offset(found))] + row_of_offset(found);
      words[static_cast<size_t>(place / 64)] |= uint64_t{1} << place % 64;
    }
  }
  return {std::move(words), first.back()};
}

KeptRows find_rows(const InvertedFile& file, const RowFilter& filter,
                   const std::vector<int64_t>& first) {
  if (!file.list_offsets.empty()) {
    const int64_t rows = std::ssize(file.list_offsets);
    const bool are_few = finds_by_ids(filter.counted().value_or(0), rows);
    const RowFilter ids = are_few ? kept_rows(filter, rows) : RowFilter();
    if (are_few && finds_by_ids(*ids.counted(), rows))
      return find_by_ids(file.list_offsets, static_cast<const KeptRows&>(*ids.rule()), first);
  }
  return ask_for_ids(file.lists, filter, first);
}

/// A filter over ids as one over list_offsets.
class ByListOffset final : public FilterRule {
 public:
  ByListOffset(const CodeLists& lists, const RowFilter& filter) : lists_(lists), filter_(filter) {}

  /// Of one list.
  void masks(int64_t first, int64_t count, uint64_t* masks) const override {
    filter_.member_masks(lists_.ids(list_of_offset(first)) + row_of_offset(first), count, masks);
  }
  uint64_t members(const int64_t* list_offsets, int count) const override {
    int64_t ids[64];
    for (int i = 0; i < count; ++i)
      ids[i] = lists_.ids(list_of_offset(list_offsets[i]))[row_of_offset(list_offsets[i])];
    return filter_.members(ids, count);
  }

 private:
  const CodeLists& lists_;
  const RowFilter& filter_;
};

}  // namespace

KeptListRows::KeptListRows(const InvertedFile& file, const RowFilter& filter)
    : first_(first_places(file.lists)), kept_(find_rows(file, filter, first_)) {
  const CodeLists& lists = file.lists;
  for (int64_t list = 0; list < lists.count(); ++list) {
    const int64_t* first = &first_[static_cast<size_t>(list)];
    int64_t count = 0;
    for (int64_t place = first[0]; place < first[1]; place += 64)
      if (const uint64_t mask = kept_.words()[static_cast<size_t>(place / 64)])
        count += std::popcount(mask);
    rows_ += lists.rows(list);
    counts_.push_back(count);
    if (count > 0) lists_.push_back(static_cast<int32_t>(list));
  }
}

double share_kept(const RowFilter& filter) {
  const auto* kept = dynamic_cast<const KeptListRows*>(filter.rule());
  return kept != nullptr ? kept->share() : 1;
}

void leave_out_lists(const KeptListRows& kept, int64_t wanted, int64_t nq, int64_t nprobe,
                     int64_t* lists) {
  for (int64_t query = 0; query < nq; ++query) {
    int64_t rows = 0;
    for (int64_t i = query * nprobe; i < (query + 1) * nprobe; ++i) {
      if (rows >= wanted) lists[i] = -1;
      if (lists[i] >= 0) rows += kept.count(lists[i]);
    }
  }
}

uint64_t KeptListRows::members(const int64_t* list_offsets, int count) const {
  int64_t places[64];
  std::transform(list_offsets, list_offsets + count, places,
                 [this](int64_t list_offset) { return place(list_offset); });
  return kept_.members(places, count);
}

RowFilter filter_of_list_offsets(const CodeLists& lists, const RowFilter& filter) {
  if (filter.keeps_all() || dynamic_cast<const KeptListRows*>(filter.rule()) != nullptr)
    return filter;
  return RowFilter(std::make_shared<ByListOffset>(lists, filter));
}

int64_t estimate_kept(const InvertedFile& file, int64_t rows, const RowFilter& filter) {
  const CodeLists& lists = file.lists;
  const int64_t positions = std::ssize(file.list_offsets);
  if (const auto ids = filter.listed(); ids && positions > 0)
    return std::lower_bound(ids->begin(), ids->end(), positions) -
           std::lower_bound(ids->begin(), ids->end(), 0);
  if (positions > 0 && !filter.calls_back()) return *kept_rows(filter, positions).counted();
  constexpr int64_t kMostAsked = 2048;
  constexpr int64_t kEnoughKept = 32;  // the share is then a sixth off
  constexpr int64_t kOfList = 16;
  int64_t asked = 0;
  int64_t kept = 0;
  // Lists here and there: neighbors may have rows of one kind. Some may be asked twice.
  constexpr uint64_t kFar = 0x9E3779B97F4A7C15;
  for (int64_t i = 0; i < kMostAsked / kOfList && kept < kEnoughKept; ++i) {
    const auto list = static_cast<int64_t>((static_cast<uint64_t>(i) * kFar >> 11) %
                                           static_cast<uint64_t>(lists.count()));
    const auto count = static_cast<int>(std::min(kOfList, lists.rows(list)));
    if (count == 0) continue;
    kept += std::popcount(filter.members(lists.ids(list), count));
    asked += count;
  }
  if (asked == 0) return 0;
  return static_cast<int64_t>(static_cast<double>(kept) / static_cast<double>(asked) *
                              static_cast<double>(rows));
}

}  // namespace polarquant
