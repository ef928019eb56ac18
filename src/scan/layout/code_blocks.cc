// SPDX-License-Identifier: MIT
#include "src/scan/layout/code_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/checked_size.h"
#include "src/core/spare_room.h"
#include "src/scan/layout/row_removal.h"

namespace polarquant {

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

void CodeBlocks::copy_row(int64_t from, int64_t to) noexcept {
  const WritableRow source = place(from);
  const WritableRow target = place(to);
  layout_.copy_sketch(source, target);
  std::memcpy(const_cast<uint8_t*>(layout_.row_payload(target)), layout_.row_payload(source),
              layout_.payload_bytes());
}

size_t CodeBlocks::sketches_bytes(int64_t rows) const {
  return layout_.sketches_bytes(rows) + kReadAhead;
}

size_t CodeBlocks::payloads_bytes(int64_t rows) const {
  return layout_.payloads_bytes(rows) + 2 * kReadAhead;
}

uint8_t* CodeBlocks::block_of(Chunk& chunk, int64_t row) const {
  return chunk.sketches.data() +
         static_cast<size_t>(row / kBlockRows) * layout_.sketch_bytes(kBlockRows);
}

// Puts a chunk's rows where there is space for `rows`, and for the spare ones.
void CodeBlocks::move(Chunk& chunk, int64_t rows) const {
  const size_t wanted = static_cast<size_t>(rows) + static_cast<size_t>(rows_) / kSpareShare;
  const int64_t with_spare = std::min(kChunkRows, static_cast<int64_t>(whole_steps(wanted)));
  Chunk other;
  other.sketches.reserve(sketches_bytes(with_spare));
  other.payloads.reserve(payloads_bytes(with_spare));
  other.sketches.assign(chunk.sketches.begin(), chunk.sketches.end());
  other.payloads.assign(chunk.payloads.begin(), chunk.payloads.end());
  std::swap(chunk, other);
}

void CodeBlocks::reserve(Chunk& chunk, int64_t rows) const {
  if (sketches_bytes(rows) > chunk.sketches.capacity() ||
      payloads_bytes(rows) > chunk.payloads.capacity())
    move(chunk, rows);
}

void CodeBlocks::return_spare(Chunk& chunk, int64_t rows) const noexcept {
  const auto most_spare = static_cast<int64_t>(most_spare_rows(static_cast<size_t>(rows_)));
  if (chunk.payloads.capacity() <= payloads_bytes(rows + most_spare)) return;
  try {
    move(chunk, rows);
  } catch (...) {
    // Where memory is short there is none to give back yet.
  }
}

// The factors of `rows` rows of the chunk's last block, which stand after its words, go where they
// stand in a block of another capacity.
void CodeBlocks::move_factors(Chunk& chunk, int64_t rows, int from_capacity,
                              int to_capacity) const noexcept {
  uint8_t* block = block_of(chunk, rows);
  std::memmove(block + layout_.factors_offset(to_capacity),
               block + layout_.factors_offset(from_capacity),
               static_cast<size_t>(rows % kBlockRows) * layout_.factor_bytes());
}

// Makes a chunk of `from` rows, which has the space, one of `to`, the new ones of zeros.
void CodeBlocks::extend(Chunk& chunk, int64_t from, int64_t to) const noexcept {
  chunk.sketches.resize(sketches_bytes(to));
  chunk.payloads.resize(payloads_bytes(to));
  const int64_t held = from % kBlockRows;
  const int before = BlockLayout::capacity(held);
  const int after = BlockLayout::capacity(std::min<int64_t>(held + to - from, kBlockRows));
  if (before == 0 || before == after) return;
  move_factors(chunk, from, before, after);
  // Words of the new groups, and factors that were not written over.
  uint8_t* block = block_of(chunk, from);
  std::fill(block + layout_.factors_offset(before), block + layout_.factors_offset(after),
            uint8_t{0});
  const size_t end_before = layout_.sketch_bytes(before);
  const size_t written =
      layout_.factors_offset(after) + static_cast<size_t>(held) * layout_.factor_bytes();
  if (written < end_before) std::fill(block + written, block + end_before, uint8_t{0});
}

// The other way round: drops the rows from `to` on.
void CodeBlocks::shorten(Chunk& chunk, int64_t from, int64_t to) const noexcept {
  const int64_t kept = to % kBlockRows;
  const int before = BlockLayout::capacity(std::min<int64_t>(kept + from - to, kBlockRows));
  const int after = BlockLayout::capacity(kept);
  if (kept > 0 && before != after) move_factors(chunk, to, before, after);
  chunk.sketches.resize(sketches_bytes(to));
  chunk.payloads.resize(payloads_bytes(to));
  // Places without a row are 0, and what an extension finds after the end too.
  uint8_t* block = block_of(chunk, to);
  auto* words = reinterpret_cast<uint64_t*>(block);
  for (int64_t row = kept; row < after; ++row) {
    const RowPlace at = {block, nullptr, after, static_cast<int>(row)};
    for (int w = 0; w < layout_.sketch_words(); ++w) words[layout_.sketch_word(at, w) - words] = 0;
  }
  std::fill(
      block + layout_.factors_offset(after) + static_cast<size_t>(kept) * layout_.factor_bytes(),
      chunk.sketches.data() + chunk.sketches.size(), uint8_t{0});
  std::fill(chunk.payloads.end() - static_cast<ptrdiff_t>(kReadAhead), chunk.payloads.end(),
            uint8_t{0});
  return_spare(chunk, to);
}

void CodeBlocks::append(int64_t n, const uint8_t* codes) {
  layout_.bytes(static_cast<int64_t>(checked_add(rows_, n, "rows")));
  const int64_t before = rows_;
  try {
    while (n > 0) {
      const int64_t held = rows_ % kChunkRows;
      const int64_t count = std::min(n, kChunkRows - held);
      if (held == 0) chunks_.emplace_back();
      reserve(chunks_.back(), held + count);
      extend(chunks_.back(), held, held + count);
      rows_ += count;
      for (int64_t row = rows_ - count; row < rows_; ++row) {
        overwrite(row, codes);
        codes += layout_.row_format_bytes();
      }
      n -= count;
    }
  } catch (...) {
    if (rows_ % kChunkRows == 0 && std::ssize(chunks_) > rows_ / kChunkRows) chunks_.pop_back();
    truncate(before);
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

void CodeBlocks::truncate(int64_t rows) noexcept {
  if (rows >= rows_) return;
  const int64_t chunk = rows / kChunkRows;
  const int64_t held = std::min(kChunkRows, rows_ - chunk * kChunkRows);
  rows_ = rows;
  chunks_.resize(static_cast<size_t>((rows + kChunkRows - 1) / kChunkRows));
  if (rows % kChunkRows != 0) shorten(chunks_.back(), held, rows % kChunkRows);
}

void CodeBlocks::clear() noexcept {
  chunks_.clear();
  rows_ = 0;
}

void CodeBlocks::get(int64_t row, uint8_t* code) const { layout_.get_row(place(row), code); }

void CodeBlocks::overwrite(int64_t row, const uint8_t* code) noexcept {
  layout_.put_row(code, place(row));
}

int64_t CodeBlocks::remove(std::span<const uint64_t> removed) noexcept {
  const int64_t before = rows_;
  truncate(
      move_kept_rows(rows_, removed, [this](int64_t from, int64_t to) { copy_row(from, to); }));
  return before - rows_;
}

void CodeBlocks::swap_remove(int64_t row) noexcept {
  if (row != rows_ - 1) copy_row(rows_ - 1, row);
  truncate(rows_ - 1);
}

std::vector<BlockRows> CodeBlocks::spans() const {
  std::vector<BlockRows> spans;
  for (size_t i = 0; i < chunks_.size(); ++i) spans.push_back(span(i));
  return spans;
}

}  // namespace polarquant
