// SPDX-License-Identifier: MIT
#include "src/scan/layout/block_memory.h"

#include <algorithm>
#include <vector>

#include "src/scan/layout/row_removal.h"

namespace polarquant {

void BlockMemory::get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }

void BlockMemory::overwrite(int64_t row, const uint8_t* code) { layout_.put_row(code, place(row)); }

// The last block's parts move when its capacity changes: its rows are read, then written anew.
void BlockMemory::set_rows(int64_t rows) {
  const int64_t last = rows == 0 ? 0 : (rows - 1) / kBlockRows;
  const int64_t first_row = last * kBlockRows;
  const int64_t kept = std::min(rows, rows_) - first_row;
  std::vector<uint8_t> codes(static_cast<size_t>(std::max<int64_t>(kept, 0)) *
                             layout_.row_format_bytes());
  for (int64_t row = 0; row < kept; ++row) {
    get(first_row + row, codes.data() + static_cast<size_t>(row) * layout_.row_format_bytes());
  }
  rows_ = rows;
  const int capacity = BlockLayout::capacity(rows - first_row);
  uint8_t* block = data_ + static_cast<size_t>(last) * layout_.block_bytes();
  std::fill_n(block, static_cast<size_t>(capacity) * layout_.row_bytes(), uint8_t{0});
  for (int64_t row = 0; row < kept; ++row) {
    overwrite(first_row + row,
              codes.data() + static_cast<size_t>(row) * layout_.row_format_bytes());
  }
}

void BlockMemory::append(int64_t n, const uint8_t* codes) {
  while (n > 0) {
    // Rows up to a block's end at a time.
    const int64_t count = std::min(n, kBlockRows - rows_ % kBlockRows);
    const int64_t first = rows_;
    set_rows(rows_ + count);
    for (int64_t row = first; row < rows_; ++row, codes += layout_.row_format_bytes())
      overwrite(row, codes);
    n -= count;
  }
}

void BlockMemory::remove(std::span<const uint64_t> removed) {
  std::vector<uint8_t> code(layout_.row_format_bytes());
  set_rows(move_kept_rows(
      rows_, removed, [&](int64_t from, int64_t to) { copy_row(*this, from, to, code.data()); }));
}

void BlockMemory::swap_remove(int64_t row) {
  std::vector<uint8_t> code(layout_.row_format_bytes());
  copy_row(*this, rows_ - 1, row, code.data());
  set_rows(rows_ - 1);
}

}  // namespace polarquant
