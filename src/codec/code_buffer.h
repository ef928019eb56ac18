// SPDX-License-Identifier: MIT
// A growing buffer of codes of one codec: append rows, see them as CodeRows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "src/codec/codec.h"

namespace polarquant {

class CodeBuffer {
 public:
  /// Encodes x, (n, dim), after the rows held. Rows of an unfinished group are coded together with
  /// the new ones once the group is full, so the bytes equal those of one encode of all rows. The
  /// buffer is unchanged after an error. Growth is by at most an eighth, never a doubling.
  void append(const Codec& codec, int64_t n, const float* x, int threads);
  void clear();
  /// Replaces all codes by layout().bytes(rows) bytes of codes.
  void restore(int64_t rows, std::vector<uint8_t> codes) {
    bytes_ = std::move(codes);
    rows_ = rows;
  }

  // For codecs whose rows have codes of their own (layout().group_rows is 1); row < size().
  // Unchanged after an error (out of memory).
  /// Unchanged after an error (out of memory).
  void append_codes(const Codec& codec, int64_t n, const uint8_t* codes);
  void get(const Codec& codec, int64_t row, uint8_t* code) const;
  void overwrite(const Codec& codec, int64_t row, const uint8_t* code) noexcept;

  /// The state before an append, for taking it back: appending may close a group, so that rows and
  /// the unfinished group's bytes are kept, not all codes.
  struct Mark {
    int64_t rows = 0;
    AlignedVector<uint8_t> tail;
  };
  Mark mark(const Codec& codec) const;
  /// Drops every row appended since a mark of `rows` rows and that tail.
  void go_back_to(const Codec& codec, int64_t rows, const AlignedVector<uint8_t>& tail) noexcept;

  CodeRows rows() const { return {bytes_.data(), rows_}; }
  int64_t size() const { return rows_; }
  size_t memory_bytes() const { return bytes_.capacity(); }

 private:
  std::vector<uint8_t> bytes_;
  int64_t rows_ = 0;
};

}  // namespace polarquant
