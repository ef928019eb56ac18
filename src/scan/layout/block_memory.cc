// SPDX-License-Identifier: MIT
#include "src/scan/layout/block_memory.h"

#include <algorithm>
#include <vector>

#include "src/scan/layout/row_removal.h"

namespace polarquant {

void BlockMemory::get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }

void BlockMemory::overwrite(int64_t row, const uint8_t* code) { layout_.put_row(code, place(row)); }

BlockRows BlockMemory::page(int64_t number) const {
  const int64_t first = number * kPageRows;
  const uint8_t* begin = data_ + static_cast<size_t>(first / kBlockRows) * layout_.block_bytes();
  if (rows_ - first < kPageRows) return {begin, rows_ - first, first};
  const size_t sketches = layout_.sketch_bytes(kBlockRows) * (kPageRows / kBlockRows);
  return {begin, kPageRows, first, begin + sketches};
}
std::vector<BlockRows> BlockMemory::spans() const {
  std::vector<BlockRows> spans;
  for (int64_t first = 0; first < rows_; first += kPageRows)
    spans.push_back(page(first / kPageRows));
  return spans;
}

// The last block's parts move when its capacity changes, and those of a page when it becomes full
// or no longer is: their rows are read, then written anew.
void BlockMemory::set_rows(int64_t rows) {
  const bool ends_with_page = rows % kPageRows == 0;
  if (ends_with_page && rows <= rows_) {
    rows_ = rows;  // its last page was full, and is
    return;
  }
  const bool opens_page = rows / kPageRows < rows_ / kPageRows;
  const int64_t unit = ends_with_page || opens_page ? kPageRows : kBlockRows;
  const int64_t first_row = (rows - 1) / unit * unit;
  const int64_t kept = std::max<int64_t>(std::min(rows, rows_) - first_row, 0);
  std::vector<uint8_t> codes(static_cast<size_t>(kept) * layout_.row_format_bytes());
  for (int64_t row = 0; row < kept; ++row) {
    get(first_row + row, codes.data() + static_cast<size_t>(row) * layout_.row_format_bytes());
  }
  rows_ = rows;
  uint8_t* begin = data_ + static_cast<size_t>(first_row / kBlockRows) * layout_.block_bytes();
  std::fill_n(begin, layout_.bytes(rows - first_row), uint8_t{0});
  for (int64_t row = 0; row < kept; ++row) {
    overwrite(first_row + row,
              codes.data() + static_cast<size_t>(row) * layout_.row_format_bytes());
  }
}

void BlockMemory::append(int64_t n, const uint8_t* codes) {
  while (n > 0) {
    // Whole pages, or rows up to a block's end, at a time.
    const int64_t unit = rows_ % kPageRows == 0 && n >= kPageRows ? kPageRows : kBlockRows;
    const int64_t count = std::min(n, unit - rows_ % unit);
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
