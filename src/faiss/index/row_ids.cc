// SPDX-License-Identifier: MIT
#include "src/faiss/index/row_ids.h"

#include <algorithm>
#include <utility>

#include "src/core/spare_room.h"

namespace polarquant {
idx_t RowIds::row_of(idx_t id) const {
  if (!read_only_) return rows_.find(id, id_at());
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  return found == ids_.end() ? -1 : found - ids_.begin();
}

size_t RowIds::memory_bytes() const {
  return ids_.capacity() * sizeof(idx_t) + rows_.memory_bytes();
}

RowIds RowIds::read_only(std::vector<idx_t> ids) {
  RowIds made;
  made.ids_ = std::move(ids);
  made.read_only_ = true;
  return made;
}

void RowIds::reserve(size_t more) {
  reserve_more(ids_, more);
  rows_.reserve(static_cast<idx_t>(ids_.size() + more), id_at());
}

bool RowIds::append(idx_t id) {
  if (row_of(id) >= 0) return false;
  reserve(1);
  rows_.insert(id, std::ssize(ids_), id_at());
  ids_.push_back(id);
  return true;
}

void RowIds::swap_remove(idx_t row) noexcept {
  const idx_t last = std::ssize(ids_) - 1;
  rows_.erase((*this)[row], row);
  if (row != last) {
    rows_.move(ids_.back(), last, row);
    ids_[static_cast<size_t>(row)] = ids_.back();
  }
  ids_.pop_back();
}

void RowIds::truncate(size_t rows) noexcept {
  while (ids_.size() > rows) swap_remove(std::ssize(ids_) - 1);
}

void RowIds::return_spare() noexcept {
  rows_.return_spare(id_at());
  if (ids_.capacity() / 2 <= ids_.size()) return;
  try {
    ids_.shrink_to_fit();
  } catch (...) {
    // They can stay where they are.
  }
}

void RowIds::clear() noexcept {
  ids_ = std::vector<idx_t>();
  rows_.clear();
  read_only_ = false;
}

}  // namespace polarquant
