// SPDX-License-Identifier: MIT
#include "src/device/list_ids.h"

#include <algorithm>
#include <utility>

#include "src/scan/search/query_tasks.h"

namespace polarquant::device {
namespace {

/// Spare memory of a list that grows: for one row of so many.
constexpr size_t kSpareShare = 4;

size_t padded_rows(const CodeLists& lists, size_t list) {
  const int64_t rows = lists.rows(static_cast<int64_t>(list));
  return static_cast<size_t>(div_up(rows, kBlockRows) * kBlockRows);
}

}  // namespace

ListIds::ListIds(const InvertedFile& file)
    : lists_(static_cast<size_t>(file.lists.count())),
      list_offsets_(file.list_offsets.begin(), file.list_offsets.end()) {
  const CodeLists& lists = file.lists;
  size_t rows = 0;
  for (size_t list = 0; list < lists_.size(); ++list) {
    lists_[list].reserve(padded_rows(lists, list));
    rows += padded_rows(lists, list);
  }
  blocks_.reserve(rows / kBlockRows);
  follow(file);
}

void ListIds::reserve(const InvertedFile& grown) {
  const size_t offsets = grown.list_offsets.size();
  if (offsets > list_offsets_.capacity()) list_offsets_.reserve(offsets + offsets / kSpareShare);
  size_t rows = 0;
  std::vector<std::pair<size_t, std::vector<int64_t>>> larger;
  for (size_t list = 0; list < lists_.size(); ++list) {
    const size_t needed = padded_rows(grown.lists, list);
    rows += needed;
    if (needed <= lists_[list].capacity()) continue;
    std::vector<int64_t> ids;
    ids.reserve(needed + needed / kSpareShare);
    ids.insert(ids.end(), lists_[list].begin(), lists_[list].end());
    larger.emplace_back(list, std::move(ids));
  }
  blocks_.reserve(rows / kBlockRows);
  for (auto& [list, ids] : larger) lists_[list].swap(ids);
  note_blocks();
}

void ListIds::follow(const InvertedFile& grown) noexcept {
  for (size_t list = 0; list < lists_.size(); ++list) {
    std::vector<int64_t>& ids = lists_[list];
    const size_t padded = padded_rows(grown.lists, list);
    const auto number = static_cast<int64_t>(list);
    const int64_t rows = grown.lists.rows(number);
    if (padded == 0) continue;
    // All but the last block, which may have had spare rows.
    const size_t known = ids.empty() ? 0 : ids.size() - kBlockRows;
    ids.resize(padded);
    std::copy(grown.lists.ids(number) + known, grown.lists.ids(number) + rows,
              ids.begin() + static_cast<ptrdiff_t>(known));
    std::fill(ids.begin() + rows, ids.end(), -1);
  }
  note_blocks();
  // Of an index that has begun or ceased to know positions, all or none of them.
  if (list_offsets_.size() > grown.list_offsets.size()) list_offsets_.clear();
  list_offsets_.insert(list_offsets_.end(),
                       grown.list_offsets.begin() + static_cast<ptrdiff_t>(list_offsets_.size()),
                       grown.list_offsets.end());
}

void ListIds::note_blocks() noexcept {
  blocks_.clear();
  for (const std::vector<int64_t>& ids : lists_)
    for (size_t row = 0; row < ids.size(); row += kBlockRows) blocks_.push_back(ids.data() + row);
}

}  // namespace polarquant::device
