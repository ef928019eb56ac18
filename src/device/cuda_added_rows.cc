// SPDX-License-Identifier: MIT
// Of an index on devices: rows that have been added to the index that was copied. All that may fail
// is made aside, and takes the place of what was there afterwards.
#include <utility>

#include "src/device/cuda_index.h"
#include "src/device/rows_to_add.h"

namespace polarquant::device {

CudaParts CudaIndex::parts_with(const RowsToAdd& added, const cuda::ListsDescription* lists) {
  CudaParts parts(parts_.size());
  threads_.run_together(parts.size(), [&](size_t i) {
    parts[i] = std::make_shared<const CudaRows>(*parts_[i], scan_codec_->layout(), added, lists);
  });
  return parts;
}

void CudaIndex::add_rows(std::span<const BlockRows> spans, std::span<const int64_t> ids) {
  const RowsToAdd added = rows_after(scan_codec_->layout(), spans, row_numbers_);
  if (added.rows == row_numbers_) return;
  if (!ids.empty() && ids.size() > ids_.capacity())
    ids_.reserve(ids.size() + ids.size() / 4);  // as devices keep room
  CudaParts parts = parts_with(added, nullptr);
  if (!ids.empty()) ids_.insert(ids_.end(), ids.begin() + row_numbers_, ids.end());
  parts_ = std::move(parts);
  row_numbers_ = added.rows;
  rows_state_ = new_rows_state();
}

void CudaIndex::add_rows(const ListsSource& source) {
  auto lists = CudaLists::without_ids(source);
  if (lists->ntotal() == lists_->ntotal()) return lists_->set_nprobe(source.nprobe);
  lists_->reserve_ids(source.file);
  auto list_ids = std::make_unique<ListsOfIds>(*codec_, *lists);
  const RowsToAdd added = rows_after(*lists, *lists_, source.file.lists);
  const ListsForDevices described(source);
  const std::vector<int64_t> list_rows = lists->rows_in({0, lists->row_numbers()});
  const cuda::ListsDescription description = described.with_rows(list_rows);
  parts_ = parts_with(added, &description);
  lists->grow(lists_.get(), source.file);
  list_ids_ = std::move(list_ids);
  lists_ = std::move(lists);
  row_numbers_ = added.rows;
  rows_state_ = new_rows_state();
}

}  // namespace polarquant::device
