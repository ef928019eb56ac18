// SPDX-License-Identifier: MIT
// The memory of rows that lie one by one: each its factors, its words and then its payload, of
// which bounds read the first two; in a graph's records each after its neighbours' signs
// (link_record.h).
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "src/core/aligned_buffer.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/block_layout.h"
#include "src/scan/layout/link_record.h"

namespace polarquant {

class SingleRows {
 public:
  explicit SingleRows(const Codec& codec) : layout_(codec, RowOrder::single) {}

  const BlockLayout& layout() const { return layout_; }
  /// Null where rows do not lie in records.
  const LinkRecordLayout* records() const { return records_ ? &*records_ : nullptr; }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const { return bytes_.capacity(); }
  RowPlace place(int64_t row) const {
    const uint8_t* sketch = first_place() + static_cast<size_t>(row) * stride() + code_offset();
    return {sketch, sketch + layout_.factor_bytes(), kGroupRows, 0};
  }
  const uint8_t* record(int64_t row) const {
    return first_place() + static_cast<size_t>(row) * stride();
  }
  uint8_t* record(int64_t row) {
    return bytes_.data() + kReadAhead + static_cast<size_t>(row) * stride();
  }
  void get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }
  void overwrite(int64_t row, const uint8_t* code) noexcept {
    layout_.put_row(code, writable(place(row)));
  }
  /// The record as well, where there are records.
  void copy_row(int64_t from, int64_t to) noexcept {
    std::memcpy(record(to), record(from), stride());
  }
  /// Unchanged after an error (out of memory). Growth is by an eighth.
  void append(int64_t n, const uint8_t* codes) {
    const size_t size = bytes_of(static_cast<int64_t>(checked_add(rows_, n, "rows")));
    if (size > bytes_.capacity()) {
      AlignedVector<uint8_t> larger;
      larger.reserve(std::max(size, bytes_.capacity() + bytes_.capacity() / 8));
      larger.assign(bytes_.begin(), bytes_.end());
      bytes_.swap(larger);
    }
    bytes_.resize(size);
    for (int64_t i = 0; i < n; ++i, codes += layout_.row_format_bytes())
      overwrite(rows_ + i, codes);
    rows_ += n;
  }
  /// From now on rows lie in records with places for so many links. Unchanged after an error.
  void lay_out_records(int links) {
    SingleRows others(*this, LinkRecordLayout(layout_.dim(), links, layout_.row_bytes()));
    for (int64_t row = 0; row < rows_; ++row) {
      std::memcpy(writable(others.place(row)).sketch, place(row).sketch, layout_.row_bytes());
    }
    *this = std::move(others);
  }
  void truncate(int64_t rows) noexcept {
    rows_ = rows;
    bytes_.resize(rows == 0 ? 0 : bytes_of(rows));
  }
  void clear() noexcept {
    AlignedVector<uint8_t>().swap(bytes_);
    rows_ = 0;
  }

 private:
  /// As many rows of zeros.
  SingleRows(const SingleRows& like, const LinkRecordLayout& records)
      : layout_(like.layout_), records_(records), rows_(like.rows_) {
    if (rows_ > 0) bytes_.resize(bytes_of(rows_));
  }

  const uint8_t* first_place() const { return bytes_.data() + kReadAhead; }
  size_t stride() const { return records_ ? records_->bytes() : layout_.row_bytes(); }
  size_t code_offset() const { return records_ ? records_->row_offset() : 0; }
  size_t bytes_of(int64_t rows) const {
    return checked_add(checked_mul(rows, stride(), "bytes of rows"), 2 * kReadAhead,
                       "bytes of rows");
  }

  BlockLayout layout_;
  std::optional<LinkRecordLayout> records_;
  int64_t rows_ = 0;
  AlignedVector<uint8_t> bytes_;  // records begin on lines: kReadAhead is one
};

}  // namespace polarquant
