// SPDX-License-Identifier: MIT
// Codes in blocks (block_layout.h), owned and growing: the memory of an index. Sketches and
// payloads lie apart.
//
// Blocks lie in chunks of 1024, so that adding rows never moves more than the last chunk, and the
// last chunk keeps at most 1/128 of all rows as spare room.
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
  void overwrite(int64_t row, const uint8_t* code);
  /// Takes out the rows whose bit of `removed` is 1 (bit row%64 of word row/64), the others keep
  /// their order. Returns how many went. Unchanged after an error (out of memory).
  int64_t remove(std::span<const uint64_t> removed);
  /// The last row takes the place of `row`.
  void swap_remove(int64_t row);
  /// Drops all rows from `rows` on. Unchanged after an error (out of memory).
  void truncate(int64_t rows);
  /// Memory that a truncation needs, for one that cannot fail.
  struct SpareBlock {
    AlignedVector<uint8_t> block;
    std::vector<uint8_t> code;
  };
  static SpareBlock spare_of_block(const BlockLayout& layout);
  void truncate(int64_t rows, SpareBlock& spare) noexcept;
  void clear() noexcept;

  /// The state before an append, for taking it back.
  struct Mark {
    int64_t rows = 0;
    AlignedVector<uint8_t> last_block;  // when it is not full
  };
  Mark mark() const;
  /// Drops every row appended since a mark of `rows` rows.
  void go_back_to(int64_t rows, const AlignedVector<uint8_t>& last_block) noexcept;

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
  AlignedVector<uint8_t> repacked(int64_t first_row, int64_t rows, int capacity) const;
  void repack(int64_t first_row, int64_t rows, uint8_t* code, AlignedVector<uint8_t>* block) const;
  void reserve_last_chunk(int64_t chunk_rows);
  void end_with(int64_t first_row, int64_t rows, const AlignedVector<uint8_t>& block) noexcept;

  BlockLayout layout_;
  int64_t rows_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace polarquant
