// SPDX-License-Identifier: MIT
#include "src/scan/stores/joined_sketches.h"

#include <algorithm>
#include <cstring>

namespace polarquant {

JoinedSketches::JoinedSketches(ByteSink& sink, const BlockLayout& layout)
    : sink_(sink), layout_(layout), block_(layout.sketch_bytes(kBlockRows)) {}

void JoinedSketches::add(const BlockRows& rows) {
  int64_t row = 0;
  if (rows_ == 0) {
    row = rows.rows / kBlockRows * kBlockRows;
    if (row > 0) sink_.write(rows.data, layout_.sketches_bytes(row));
  }
  for (; row < rows.rows; ++row) add_row(rows.place(layout_, row));
}

void JoinedSketches::add_row(const RowPlace& from) {
  const WritableRow to = layout_.row_of_block(block_.data(), kBlockRows, rows_);
  layout_.copy_sketch(from, to);
  if (++rows_ == kBlockRows) write_block();
}

// The words of a block of fewer rows are the first ones of a full block's; its factors follow them.
void JoinedSketches::write_block() {
  const int capacity = BlockLayout::capacity(rows_);
  const size_t words = layout_.factors_offset(capacity);
  const size_t factors = static_cast<size_t>(capacity) * layout_.factor_bytes();
  if (words > 0) sink_.write(block_.data(), words);
  if (factors > 0) sink_.write(block_.data() + layout_.factors_offset(kBlockRows), factors);
  std::fill(block_.begin(), block_.end(), uint8_t{0});
  rows_ = 0;
}

void JoinedSketches::finish() {
  if (rows_ > 0) write_block();
}

}  // namespace polarquant
