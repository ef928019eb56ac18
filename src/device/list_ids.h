// SPDX-License-Identifier: MIT
// The ids of an inverted file's rows by their numbers on devices, where every list begins a block,
// and where ids are that are positions. Each list's ids lie together in memory of their own, so
// that lists grow without moving others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/scan/layout/block_layout.h"
#include "src/scan/search/list_search.h"

namespace polarquant::device {

class ListIds {
 public:
  /// Of no list.
  ListIds() = default;
  explicit ListIds(const InvertedFile& file);

  /// Of a row number; −1 for a spare row after a list.
  int64_t operator[](int64_t row_number) const {
    return blocks_[static_cast<size_t>(row_number / kBlockRows)][row_number % kBlockRows];
  }
  /// Those of a list, in whole blocks.
  const int64_t* list(int64_t list) const { return lists_[static_cast<size_t>(list)].data(); }
  /// As of InvertedFile.
  std::span<const int64_t> list_offsets() const { return list_offsets_; }

  /// Takes the memory that follow() needs; they are as before, also after an error.
  void reserve(const InvertedFile& grown);
  /// Rows have been added to lists since, for which memory was reserved.
  void follow(const InvertedFile& grown) noexcept;

 private:
  void note_blocks() noexcept;

  std::vector<std::vector<int64_t>> lists_;
  std::vector<const int64_t*> blocks_;
  std::vector<int64_t> list_offsets_;
};

}  // namespace polarquant::device
