// SPDX-License-Identifier: MIT
#include "src/scan/code_blocks.h"

#include <algorithm>
#include <cstring>

#include "src/core/checked_size.h"
#include "src/scan/row_removal.h"

namespace polarquant {
namespace {

constexpr int64_t kMinSpareBlocks = 1;
constexpr int64_t kSpareShare = 128;

int64_t blocks_of(int64_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

}  // namespace

size_t CodeBlocks::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& chunk : chunks_) bytes += chunk.capacity();
  return bytes;
}

CodeBlocks::Place CodeBlocks::place(int64_t row) const {
  const auto& chunk = chunks_[static_cast<size_t>(row / kChunkRows)];
  const int64_t block = row / kBlockRows;
  const int64_t rows = std::min<int64_t>(kBlockRows, rows_ - block * kBlockRows);
  auto* data = const_cast<uint8_t*>(chunk.data());
  return {data + static_cast<size_t>(block % kChunkBlocks) * layout_.block_bytes(),
          BlockLayout::room(rows), static_cast<int>(row % kBlockRows)};
}

// Room for `chunk_rows` rows in the last chunk; codes and rows_ stay as they are.
void CodeBlocks::reserve_last_chunk(int64_t chunk_rows) {
  auto& chunk = chunks_.back();
  const size_t needed = layout_.bytes(chunk_rows) + kReadAhead;
  if (needed <= chunk.capacity()) return;
  const int64_t spare = std::max(kMinSpareBlocks, blocks_of(rows_) / kSpareShare);
  const int64_t blocks = std::min(kChunkBlocks, blocks_of(chunk_rows) + spare);
  AlignedVector<uint8_t> larger;
  larger.reserve(static_cast<size_t>(blocks) * layout_.block_bytes() + kReadAhead);
  larger.assign(chunk.begin(), chunk.end());
  chunk.swap(larger);
}

// A copy of a block's first `rows` rows with room for `room`: the parts behind the planes start
// elsewhere when the room is another.
AlignedVector<uint8_t> CodeBlocks::repacked(int64_t first_row, int64_t rows, int room) const {
  AlignedVector<uint8_t> block(static_cast<size_t>(room) * layout_.row_bytes());
  std::vector<uint8_t> code(layout_.row_format_bytes());
  for (int64_t row = 0; row < rows; ++row) {
    get(first_row + row, code.data());
    layout_.put_row(code.data(), block.data(), room, static_cast<int>(row));
  }
  return block;
}

// Makes `block` the last block, from `first_row` on. The chunk has the capacity.
void CodeBlocks::end_with(int64_t first_row, const AlignedVector<uint8_t>& block) noexcept {
  auto& chunk = chunks_[static_cast<size_t>(first_row / kChunkRows)];
  const size_t start =
      static_cast<size_t>(first_row % kChunkRows / kBlockRows) * layout_.block_bytes();
  chunk.resize(start + block.size() + kReadAhead);
  std::copy(block.begin(), block.end(), chunk.begin() + static_cast<ptrdiff_t>(start));
}

void CodeBlocks::append(int64_t n, const uint8_t* codes) {
  layout_.bytes(static_cast<int64_t>(checked_add(rows_, n, "rows")));
  const Mark before = mark();
  try {
    while (n > 0) {
      const int64_t held = rows_ % kBlockRows;
      const int64_t count = std::min(n, kBlockRows - held);
      if (rows_ % kChunkRows == 0) chunks_.emplace_back();
      reserve_last_chunk(std::min(kChunkRows, rows_ % kChunkRows + n));
      end_with(rows_ - held, repacked(rows_ - held, held, BlockLayout::room(held + count)));
      rows_ += count;
      for (int64_t row = rows_ - count; row < rows_; ++row) {
        overwrite(row, codes);
        codes += layout_.row_format_bytes();
      }
      n -= count;
    }
  } catch (...) {
    go_back_to(before.rows, before.last_block);
    throw;
  }
}

CodeBlocks::Mark CodeBlocks::mark() const {
  const int64_t held = rows_ % kBlockRows;
  if (held == 0) return {rows_, {}};
  return {rows_, repacked(rows_ - held, held, BlockLayout::room(held))};
}

void CodeBlocks::go_back_to(int64_t rows, const AlignedVector<uint8_t>& last_block) noexcept {
  chunks_.resize(static_cast<size_t>((rows + kChunkRows - 1) / kChunkRows));
  rows_ = rows;
  if (rows % kChunkRows != 0) end_with(rows / kBlockRows * kBlockRows, last_block);
}

void CodeBlocks::truncate(int64_t rows) {
  if (rows >= rows_) return;
  const int64_t kept = rows % kBlockRows;
  go_back_to(rows, repacked(rows - kept, kept, BlockLayout::room(kept)));
}

void CodeBlocks::clear() noexcept {
  chunks_.clear();
  rows_ = 0;
}

void CodeBlocks::get(int64_t row, uint8_t* code) const {
  const Place at = place(row);
  layout_.get_row(at.block, at.room, at.row, code);
}

void CodeBlocks::overwrite(int64_t row, const uint8_t* code) {
  const Place at = place(row);
  layout_.put_row(code, at.block, at.room, at.row);
}

int64_t CodeBlocks::remove(std::span<const uint64_t> removed) {
  const int64_t before = rows_;
  truncate(move_kept_rows(*this, layout_.row_format_bytes(), removed));
  return before - rows_;
}

void CodeBlocks::swap_remove(int64_t row) {
  move_last_row(*this, layout_.row_format_bytes(), row);
  truncate(rows_ - 1);
}

std::vector<BlockRows> CodeBlocks::spans() const {
  std::vector<BlockRows> spans;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const int64_t first = static_cast<int64_t>(i) * kChunkRows;
    spans.push_back({chunks_[i].data(), std::min(kChunkRows, rows_ - first), first});
  }
  return spans;
}

}  // namespace polarquant
