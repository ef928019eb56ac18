// SPDX-License-Identifier: MIT
// The lists of an inverted file: codes and ids of the rows that are nearest to each of its centres.
// A list's codes lie in blocks (code_blocks.h) where they are searched by integer levels, in the
// row format otherwise.
//
// Threads: const member functions may run at the same time, and so may changes of different lists;
// the others need sole use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/codec/codec.h"
#include "src/scan/code_blocks.h"

namespace polarquant {

class CodeLists {
 public:
  /// For codecs whose rows have codes of their own, trained: training says where signs are.
  CodeLists(const Codec& codec, int64_t lists);

  int64_t count() const { return static_cast<int64_t>(ids_.size()); }
  int64_t rows(int64_t list) const { return std::ssize(ids_[static_cast<size_t>(list)]); }
  /// Of one row, in the row format.
  size_t code_bytes() const { return code_bytes_; }
  size_t memory_bytes() const;

  const int64_t* ids(int64_t list) const { return ids_[static_cast<size_t>(list)].data(); }
  bool has_blocks() const { return !blocks_.empty(); }
  /// Where has_blocks().
  const CodeBlocks& blocks(int64_t list) const { return blocks_[static_cast<size_t>(list)]; }
  /// Where not.
  const uint8_t* row_codes(int64_t list) const {
    return row_codes_[static_cast<size_t>(list)].data();
  }
  /// The row-format code of a list's row.
  void get(int64_t list, int64_t row, uint8_t* code) const;

  /// n codes in the row format, with their ids, behind the rows of a list. Unchanged after an error
  /// (out of memory).
  void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes);
  void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code);
  /// ids: (rows(list)).
  void set_ids(int64_t list, const int64_t* ids);
  /// Drops all rows of a list from `rows` on.
  void truncate(int64_t list, int64_t rows);
  void clear() noexcept;

 private:
  size_t code_bytes_;
  std::vector<CodeBlocks> blocks_;  // (lists), or none
  std::vector<std::vector<uint8_t>> row_codes_;
  std::vector<std::vector<int64_t>> ids_;
};

}  // namespace polarquant
