// SPDX-License-Identifier: MIT
// The lists of an inverted file: codes and ids of the rows that are nearest to each of its centres.
// A list's codes lie in blocks (block_layout.h) where they are searched by int8 values, in the
// row format otherwise; in memory, or in a mapped file (mapped_lists.h).
//
// Threads: const member functions may run at the same time, and so may changes of different lists;
// the others need sole use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/rows_state.h"
#include "src/scan/layout/code_blocks.h"

namespace polarquant {

class CodeLists {
 public:
  /// Lists without rows, in memory. For codecs whose rows have codes of their own, trained:
  /// training says where signs are. Throws unsupported for the others.
  static std::unique_ptr<CodeLists> make(const Codec& codec, int64_t lists);
  /// Lists of rows that this codec coded: for each its codes, as the codec has them, and its ids.
  static std::unique_ptr<CodeLists> from_blocks(const Codec& codec, std::vector<CodeBlocks> blocks,
                                                std::vector<std::vector<int64_t>> ids);
  static std::unique_ptr<CodeLists> from_row_codes(const Codec& codec,
                                                   std::vector<std::vector<uint8_t>> codes,
                                                   std::vector<std::vector<int64_t>> ids);
  virtual ~CodeLists() = default;

  int64_t count() const { return count_; }
  /// Bytes of one row in the row format.
  size_t code_bytes() const { return code_bytes_; }
  bool has_blocks() const { return layout_.has_value(); }
  /// Only where has_blocks().
  const BlockLayout& layout() const { return *layout_; }

  virtual int64_t rows(int64_t list) const = 0;
  virtual size_t memory_bytes() const = 0;
  /// The same as long as rows only come after those that each list holds (core/rows_state.h);
  /// kUnknownRows where nobody counts changes.
  virtual uint64_t held_rows_state() const { return kUnknownRows; }
  /// Whether rows lie in a mapped file, so that none can be added or taken away.
  virtual bool is_mapped() const { return false; }
  /// Throws corrupt_data where rows lie in a file that is not what was written; reads all of it.
  virtual void verify() const {}

  // Verified where rows lie in a mapped file: these throw corrupt_data when it is damaged.
  /// (rows(list)).
  virtual const int64_t* ids(int64_t list) const = 0;
  /// A list's rows as a scan reads them, in order; where has_blocks().
  virtual size_t span_count(int64_t list) const = 0;
  virtual BlockRows span(int64_t list, size_t number) const = 0;
  /// All of them, after those in *spans.
  virtual void append_spans(int64_t list, std::vector<BlockRows>* spans) const;
  /// Only without has_blocks(): (rows(list), code_bytes()).
  virtual const uint8_t* row_codes(int64_t list) const = 0;
  /// The row-format code of a list's row.
  virtual void get(int64_t list, int64_t row, uint8_t* code) const = 0;

  /// These lists are read next: those that are not in memory are asked for.
  virtual void read_ahead(std::span<const int64_t> /*lists*/) const {}

  // Changes; they throw unsupported where is_mapped().
  /// n codes in the row format, with their ids, after the rows of a list. Unchanged after an error
  /// (out of memory).
  virtual void append(int64_t list, int64_t n, const int64_t* ids, const uint8_t* codes) = 0;
  virtual void overwrite(int64_t list, int64_t row, int64_t id, const uint8_t* code) = 0;
  /// Another id for a list's row. Of lists in memory nothing fails.
  virtual void set_id(int64_t list, int64_t row, int64_t id);
  /// Drops all rows of a list from `rows` on; takes no memory.
  virtual void truncate(int64_t list, int64_t rows) = 0;
  virtual void clear() = 0;

 protected:
  CodeLists(const Codec& codec, int64_t lists);

 private:
  int64_t count_;
  size_t code_bytes_;
  std::optional<BlockLayout> layout_;
};

}  // namespace polarquant
