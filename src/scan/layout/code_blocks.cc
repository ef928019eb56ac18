// SPDX-License-Identifier: MIT
#include "src/scan/layout/code_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/checked_size.h"
#include "src/scan/layout/row_removal.h"

namespace polarquant {
namespace {

constexpr int64_t kSpareShare = 128;

}  // namespace

size_t CodeBlocks::memory_bytes() const {
  size_t bytes = 0;
  for (const Chunk& chunk : chunks_) bytes += chunk.sketches.capacity() + chunk.payloads.capacity();
  return bytes;
}

BlockRows CodeBlocks::span(size_t chunk) const {
  const int64_t first = static_cast<int64_t>(chunk) * kChunkRows;
  return {chunks_[chunk].sketches.data(), std::min(kChunkRows, rows_ - first), first,
          chunks_[chunk].payloads.data() + kReadAhead};
}

WritableRow CodeBlocks::place(int64_t row) const {
  return writable(span(static_cast<size_t>(row / kChunkRows)).place(layout_, row % kChunkRows));
}

// Makes space for `chunk_rows` rows in the last chunk; codes and rows_ stay as they are.
void CodeBlocks::reserve_last_chunk(int64_t chunk_rows) {
  Chunk& chunk = chunks_.back();
  const auto sketch_bytes = [this](int64_t rows) {
    return layout_.sketches_bytes(rows) + kReadAhead;
  };
  const auto payload_bytes = [this](int64_t rows) {
    return layout_.payloads_bytes(rows) + 2 * kReadAhead;
  };
  if (sketch_bytes(chunk_rows) <= chunk.sketches.capacity() &&
      payload_bytes(chunk_rows) <= chunk.payloads.capacity())
    return;
  const int64_t rows = std::min(kChunkRows, chunk_rows + rows_ / kSpareShare);
  Chunk larger;
  larger.sketches.reserve(sketch_bytes(rows));
  larger.payloads.reserve(payload_bytes(rows));
  larger.sketches.assign(chunk.sketches.begin(), chunk.sketches.end());
  larger.payloads.assign(chunk.payloads.begin(), chunk.payloads.end());
  std::swap(chunk, larger);
}

// A copy of a block's first `rows` rows with `capacity`; the payload follows the sketch. The parts
// after the planes start elsewhere when the capacity changes.
AlignedVector<uint8_t> CodeBlocks::repacked(int64_t first_row, int64_t rows, int capacity) const {
  AlignedVector<uint8_t> block(static_cast<size_t>(capacity) * layout_.row_bytes());
  std::vector<uint8_t> code(layout_.row_format_bytes());
  repack(first_row, rows, code.data(), &block);
  return block;
}

void CodeBlocks::repack(int64_t first_row, int64_t rows, uint8_t* code,
                        AlignedVector<uint8_t>* block) const {
  const int capacity = static_cast<int>(block->size() / layout_.row_bytes());
  WritableRow at = layout_.row_of_block(block->data(), capacity, 0);
  for (; at.row < rows; ++at.row) {
    get(first_row + at.row, code);
    layout_.put_row(code, at);
  }
}

// Makes `block` the last block, of `rows` rows from `first_row` on. The chunk has the space.
void CodeBlocks::end_with(int64_t first_row, int64_t rows,
                          const AlignedVector<uint8_t>& block) noexcept {
  Chunk& chunk = chunks_[static_cast<size_t>(first_row / kChunkRows)];
  const auto in_chunk = static_cast<size_t>(first_row % kChunkRows / kBlockRows);
  const size_t sketch_bytes =
      layout_.sketch_bytes(static_cast<int>(block.size() / layout_.row_bytes()));
  const auto payload = block.begin() + static_cast<ptrdiff_t>(sketch_bytes);
  const auto put = [](auto first, auto last, size_t start, AlignedVector<uint8_t>* part) {
    const auto size = static_cast<size_t>(last - first);
    part->resize(start + size + kReadAhead);
    std::copy(first, last, part->begin() + static_cast<ptrdiff_t>(start));
  };
  put(block.begin(), payload, in_chunk * layout_.sketch_bytes(kBlockRows), &chunk.sketches);
  put(payload, payload + rows * static_cast<ptrdiff_t>(layout_.payload_bytes()),
      kReadAhead + in_chunk * kBlockRows * layout_.payload_bytes(), &chunk.payloads);
}

void CodeBlocks::append(int64_t n, const uint8_t* codes) {
  layout_.bytes(static_cast<int64_t>(checked_add(rows_, n, "rows")));
  const Mark before = mark();
  try {
    while (n > 0) {
      const int64_t tail_rows = rows_ % kBlockRows;
      const int64_t count = std::min(n, kBlockRows - tail_rows);
      if (rows_ % kChunkRows == 0) chunks_.emplace_back();
      reserve_last_chunk(std::min(kChunkRows, rows_ % kChunkRows + n));
      end_with(rows_ - tail_rows, tail_rows + count,
               repacked(rows_ - tail_rows, tail_rows, BlockLayout::capacity(tail_rows + count)));
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

void CodeBlocks::restore(int64_t rows, const ReadPart& read_sketches,
                         const ReadPart& read_payloads) {
  clear();
  const int64_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  const auto rows_of = [rows](int64_t chunk) {
    return std::min(kChunkRows, rows - chunk * kChunkRows);
  };
  // Chunk by chunk: `rows` may be more than there is to read.
  std::vector<Chunk> read;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    AlignedVector<uint8_t> sketches;
    read_sketches(&sketches, layout_.sketches_bytes(rows_of(chunk)));
    sketches.resize(sketches.size() + kReadAhead);
    sketches.shrink_to_fit();
    read.emplace_back().sketches = std::move(sketches);
  }
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    AlignedVector<uint8_t> payloads(kReadAhead);
    read_payloads(&payloads, layout_.payloads_bytes(rows_of(chunk)));
    payloads.resize(payloads.size() + kReadAhead);
    payloads.shrink_to_fit();
    read[static_cast<size_t>(chunk)].payloads = std::move(payloads);
  }
  chunks_ = std::move(read);
  rows_ = rows;
}

CodeBlocks CodeBlocks::repacked_as(const BlockLayout& layout) const {
  CodeBlocks blocks(layout);
  const size_t row_bytes = layout_.row_format_bytes();
  std::vector<uint8_t> codes;
  for (const BlockRows& rows : spans()) {
    codes.resize(static_cast<size_t>(rows.rows) * row_bytes);
    for (int64_t row = 0; row < rows.rows; ++row)
      layout_.get_row(rows.place(layout_, row), &codes[static_cast<size_t>(row) * row_bytes]);
    blocks.append(rows.rows, codes.data());
  }
  return blocks;
}

CodeBlocks::Mark CodeBlocks::mark() const {
  const int64_t tail_rows = rows_ % kBlockRows;
  if (tail_rows == 0) return {rows_, {}};
  return {rows_, repacked(rows_ - tail_rows, tail_rows, BlockLayout::capacity(tail_rows))};
}

void CodeBlocks::go_back_to(int64_t rows, const AlignedVector<uint8_t>& last_block) noexcept {
  chunks_.resize(static_cast<size_t>((rows + kChunkRows - 1) / kChunkRows));
  rows_ = rows;
  if (rows % kChunkRows != 0)
    end_with(rows / kBlockRows * kBlockRows, rows % kBlockRows, last_block);
}

CodeBlocks::SpareBlock CodeBlocks::spare_of_block(const BlockLayout& layout) {
  SpareBlock spare;
  spare.block.resize(static_cast<size_t>(kBlockRows) * layout.row_bytes());
  spare.code.resize(layout.row_format_bytes());
  return spare;
}

void CodeBlocks::truncate(int64_t rows) {
  SpareBlock spare = spare_of_block(layout_);
  truncate(rows, spare);
}

void CodeBlocks::truncate(int64_t rows, SpareBlock& spare) noexcept {
  if (rows >= rows_) return;
  const int64_t kept = rows % kBlockRows;
  // The size stays within its capacity.
  spare.block.assign(static_cast<size_t>(BlockLayout::capacity(kept)) * layout_.row_bytes(), 0);
  repack(rows - kept, kept, spare.code.data(), &spare.block);
  go_back_to(rows, spare.block);
}

void CodeBlocks::clear() noexcept {
  chunks_.clear();
  rows_ = 0;
}

void CodeBlocks::get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }

void CodeBlocks::overwrite(int64_t row, const uint8_t* code) { layout_.put_row(code, place(row)); }

int64_t CodeBlocks::remove(std::span<const uint64_t> removed) {
  const int64_t before = rows_;
  const int64_t kept = before - count_removed(removed, before);
  // All memory is taken first, so that nothing fails once rows move.
  const int64_t last = kept % kBlockRows;
  AlignedVector<uint8_t> last_block(static_cast<size_t>(BlockLayout::capacity(last)) *
                                    layout_.row_bytes());
  std::vector<uint8_t> code(layout_.row_format_bytes());
  move_kept_rows(*this, code, removed);
  repack(kept - last, last, code.data(), &last_block);
  go_back_to(kept, last_block);
  return before - kept;
}

void CodeBlocks::swap_remove(int64_t row) {
  move_last_row(*this, layout_.row_format_bytes(), row);
  truncate(rows_ - 1);
}

std::vector<BlockRows> CodeBlocks::spans() const {
  std::vector<BlockRows> spans;
  for (size_t i = 0; i < chunks_.size(); ++i) spans.push_back(span(i));
  return spans;
}

}  // namespace polarquant
