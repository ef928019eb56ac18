// SPDX-License-Identifier: MIT
// The ids that rows of an index have of their own, each once, and the way back from an id to its
// row.
//
// Threads: const member functions may run at the same time; the others need sole use.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/core/place_table.h"
#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

class RowIds {
 public:
  bool empty() const { return ids_.empty(); }
  const std::vector<idx_t>& all() const { return ids_; }
  idx_t operator[](idx_t row) const { return ids_[static_cast<size_t>(row)]; }
  /// Whether row_of looks an id up: after read_only(…) it goes through all ids.
  bool looks_up() const { return !read_only_; }
  /// −1 where no row has it.
  idx_t row_of(idx_t id) const;
  size_t memory_bytes() const;

  /// Ids that never change and have no way back, which would cost more than they do.
  static RowIds read_only(std::vector<idx_t> ids);
  /// Space for `more` ids: these are then appended without an error.
  void reserve(size_t more);
  /// The id of the next row; false, and nothing changes, where a row has it.
  bool append(idx_t id);
  /// The last row takes the place of `row`.
  void swap_remove(idx_t row) noexcept;
  /// Drops the ids of the rows from `rows` on.
  void truncate(size_t rows) noexcept;
  /// Gives back memory after ids went.
  void return_spare() noexcept;
  void clear() noexcept;

 private:
  auto id_at() const {
    return [this](idx_t row) { return (*this)[row]; };
  }

  std::vector<idx_t> ids_;
  PlaceTable rows_;
  bool read_only_ = false;
};

}  // namespace polarquant
