// SPDX-License-Identifier: MIT
// Lists of an inverted file that stay in a mapped file: searched where they lie, and never changed.
// Nothing of a list is read before it is asked for, and it is verified then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/io/mapped_section.h"
#include "src/scan/layout/code_lists.h"

namespace polarquant {

/// Where lists lie in the sections of a file, one after the other (docs/format.md, "Index files").
/// A list of rows in blocks has its sketches, then its payloads, and begins on a 64-byte boundary,
/// with kReadAhead bytes before the first list and after the last; a list of rows in the row format
/// has their codes alone.
class ListPlaces {
 public:
  /// sizes: rows of each list. Throws bad_argument when their bytes do not fit a size.
  ListPlaces(const Codec& codec, std::span<const int64_t> sizes, LevelForm levels);

  int64_t count() const { return std::ssize(begin_) - 1; }
  int64_t total_rows() const { return first_row_.back(); }
  int64_t rows(int64_t list) const { return first_row(list + 1) - first_row(list); }
  /// The list's first row, counted over all lists.
  int64_t first_row(int64_t list) const { return first_row_[static_cast<size_t>(list)]; }
  /// The list's first byte in the section of codes.
  size_t begin(int64_t list) const { return begin_[static_cast<size_t>(list)]; }
  size_t section_bytes() const { return section_bytes_; }
  size_t memory_bytes() const {
    return first_row_.capacity() * sizeof(int64_t) + begin_.capacity() * sizeof(size_t);
  }

 private:
  std::vector<int64_t> first_row_;  // (count + 1)
  std::vector<size_t> begin_;       // (count + 1)
  size_t section_bytes_ = 0;
};

/// codes: places.section_bytes() bytes; ids: 8 bytes a row. With `ids_are_rows` ids must be below
/// the number of rows, which is checked list by list.
std::unique_ptr<CodeLists> map_lists(const Codec& codec, ListPlaces places,
                                     std::shared_ptr<const MappedSection> codes,
                                     std::shared_ptr<const MappedSection> ids, bool ids_are_rows);

}  // namespace polarquant
