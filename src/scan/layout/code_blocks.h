// SPDX-License-Identifier: MIT
// Codes in blocks (block_layout.h), owned and growing: the memory of an index. Sketches and
// payloads lie apart.
//
// Blocks lie in chunks of 1024, so that adding rows never moves more than the last chunk, and the
// last chunk keeps at most 1/128 of all rows as spare room; 1/16 where rows went.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/core/aligned_buffer.h"
#include "src/scan/layout/block_layout.h"

namespace polarquant {

class CodeBlocks {
 public:
  explicit CodeBlocks(const BlockLayout& layout) : layout_(layout) {}

  const BlockLayout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }
  size_t memory_bytes() const;

  /// Appends `bytes` bytes to *into; throws when they cannot be had.
  using ReadPart = std::function<void(AlignedVector<uint8_t>* into, size_t bytes)>;
  /// Replaces all rows: reads the sketches of `rows` rows, then their payloads, as they lie in
  /// spans(). After an error there are no rows.
  void restore(int64_t rows, const ReadPart& read_sketches, const ReadPart& read_payloads);

  /// Packs n row-format codes after the rows held. Unchanged after an error (out of memory).
  void append(int64_t n, const uint8_t* codes);
  /// The same rows in another layout of their codec.
  CodeBlocks repacked_as(const BlockLayout& layout) const;
  /// Rows are numbered from 0 in the order they were added; row < rows().
  void get(int64_t row, uint8_t* code) const;
  void overwrite(int64_t row, const uint8_t* code) noexcept;

  // What follows takes no memory, gives back what is much more than the rows that stay need, and
  // costs as much as the rows that go or move.
  /// Takes out the rows whose bit of `removed` is 1 (bit row%64 of word row/64), the others keep
  /// their order. Returns how many went.
  int64_t remove(std::span<const uint64_t> removed) noexcept;
  /// The last row takes the place of `row`.
  void swap_remove(int64_t row) noexcept;
  /// Drops all rows from `rows` on.
  void truncate(int64_t rows) noexcept;
  void clear() noexcept;

  /// The rows as a scan reads them, in order: all of them, or one of spans_count() spans.
  std::vector<BlockRows> spans() const;
  size_t spans_count() const { return chunks_.size(); }
  static size_t spans_count(int64_t rows) {
    return static_cast<size_t>((rows + kChunkRows - 1) / kChunkRows);
  }
  BlockRows span(size_t chunk) const;

 private:
  static constexpr int64_t kChunkBlocks = 1024;
  static constexpr int64_t kChunkRows = kChunkBlocks * kBlockRows;

  struct Chunk {
    AlignedVector<uint8_t> sketches;
    AlignedVector<uint8_t> payloads;  // from kReadAhead on
  };
  WritableRow place(int64_t row) const;
  void copy_row(int64_t from, int64_t to) noexcept;
  /// Bytes of a chunk's parts, with what kernels read ahead.
  size_t sketches_bytes(int64_t rows) const;
  size_t payloads_bytes(int64_t rows) const;
  uint8_t* block_of(Chunk& chunk, int64_t row) const;
  void move(Chunk& chunk, int64_t rows) const;
  void reserve(Chunk& chunk, int64_t rows) const;
  void extend(Chunk& chunk, int64_t from, int64_t to) const noexcept;
  void shorten(Chunk& chunk, int64_t from, int64_t to) const noexcept;
  void return_spare(Chunk& chunk, int64_t rows) const noexcept;
  void move_factors(Chunk& chunk, int64_t rows, int from_capacity, int to_capacity) const noexcept;

  BlockLayout layout_;
  int64_t rows_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace polarquant
