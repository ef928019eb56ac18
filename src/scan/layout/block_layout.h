// SPDX-License-Identifier: MIT
// How an index keeps codes in memory: blocks of 64 rows, so that a search can read the signs of
// some coordinates of every row and touch the rest of few. docs/format.md, "Blocks", has the bytes.
//
// A row's sign plane is one 64-bit word for each segment of 64 coordinates: bit t is the sign of
// the first coordinate of the segment's pair t, bit 32+t that of the second. A block of r rows (64,
// in the last block 1 to 64) has the capacity c = 8·⌈r/8⌉ and holds, in order:
//   1. the first words of the sign planes, up to kMaxSketchWords, in groups of 8 rows: word w of
//      the group's 8 rows lie side by side, then word w+1 of the 8 rows;
//   2. the two factors of each of its c rows, side by side as in the row format;
//   3. the remaining bytes of each row, one row after another: its other sign words, then the other
//      parts of its code (cell plane, second stage).
// Codes without a sign plane have only 2 and 3, codecs of vectors only 3. No part depends on the
// width of vector registers. Places without a row are 0.
//
// Codes of a byte a coordinate (Polar8) have no planes in the row format; in blocks their bytes are
// split into signs and 7-bit magnitudes (level_planes.h), which are the other parts of their code.
//
// 1 and 2 are a block's sketch, 3 is its payload. In an index all sketches lie together, which
// memory reads faster than sketches with gaps; block_memory.h says how blocks of callers lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/codec/codec.h"
#include "src/codec/segment_plan.h"

namespace polarquant {

inline constexpr int kBlockRows = 64;
inline constexpr int kGroupRows = 8;
/// The most sign words of a sketch. Every row's are read: more words leave fewer candidates.
inline constexpr int kMaxSketchWords = 4;

/// A segment's signs in coordinate order ↔ in pair order, for a segment of `count` coordinates.
uint64_t to_pair_order(uint64_t signs, int count);
uint64_t to_coordinate_order(uint64_t signs, int count);
/// The position of coordinate j of `dim` in padded data: its bit in the words, 64 to a segment.
int position_of(int j, int dim);
/// Pairs of `dim` coordinates: 32 a segment, half of the last, rounded up.
constexpr int pairs_of(int dim) {
  const int last_dims = dim % kSegmentDims;
  return dim / kSegmentDims * (kSegmentDims / 2) + (last_dims + 1) / 2;
}

/// A row of a block: the block's parts, its capacity, and the number of the row.
struct RowPlace {
  const uint8_t* sketch;
  const uint8_t* payload;
  int capacity;
  int row;
};

/// A row that can be written.
struct WritableRow {
  uint8_t* sketch;
  uint8_t* payload;
  int capacity;
  int row;

  operator RowPlace() const {
    return {sketch, payload, capacity, row};
  }  // NOLINT: as char* to const char*
};

/// How rows lie in memory: in blocks, for scans, or each alone, for those who take rows in any
/// order (graphs): what a score reads of a row is then in one place, its words before its other
/// bytes.
enum class RowOrder : uint8_t { blocks, single };

/// How codes of a byte a coordinate lie in blocks: split, or, in files of versions that knew no
/// other way, as in the row format.
enum class LevelForm : uint8_t { split, bytes };

class BlockLayout {
 public:
  /// Whether codes of this codec lie in blocks, and are searched by int8 values: the flagship's,
  /// its residual and trained codes', and Polar8's.
  static bool supports(const Codec& codec);
  /// For codecs whose rows have codes of their own (layout().group_rows is 1). Single rows are the
  /// payloads of blocks that have no words in their sketch.
  explicit BlockLayout(const Codec& codec, RowOrder order = RowOrder::blocks,
                       LevelForm levels = LevelForm::split);

  int dim() const { return dim_; }
  /// 64-bit words of a row's sign plane; 0 without one.
  int sign_words() const { return sign_words_; }
  /// Those of them that lie in the sketch; the others begin the row's payload.
  int sketch_words() const { return sketch_words_; }
  size_t payload_sign_bytes() const {
    return static_cast<size_t>(sign_words_ - sketch_words_) * sizeof(uint64_t);
  }
  size_t factor_bytes() const { return factor_bytes_; }
  size_t payload_bytes() const { return payload_bytes_; }  // of a row
  size_t row_bytes() const { return row_bytes_; }
  /// Bytes of a row in the row format, which is what blocks are packed from and into.
  size_t row_format_bytes() const { return row_format_bytes_; }
  /// Whether signs and magnitudes of a row are what its bytes are split into.
  bool splits_levels() const { return splits_levels_; }

  /// Rows that fit into the block of `rows` rows.
  static int capacity(int64_t rows) {
    return static_cast<int>((rows + kGroupRows - 1) / kGroupRows) * kGroupRows;
  }
  size_t block_bytes() const { return kBlockRows * row_bytes_; }
  /// Bytes of `rows` ≥ 0 rows; throws bad_argument when that does not fit a size_t.
  size_t bytes(int64_t rows) const;

  /// Bytes of the sketches, and of the payloads, of `rows` ≥ 0 rows where they lie apart: payloads
  /// end with the last row's.
  size_t sketches_bytes(int64_t rows) const;
  size_t payloads_bytes(int64_t rows) const;

  /// Where the parts of a block of `capacity` rows start; the words at 0. Word w of row r is 64-bit
  /// word (r/8·sketch_words + w)·8 + r%8 of the block.
  size_t factors_offset(int capacity) const {
    return static_cast<size_t>(capacity) * sketch_words_ * sizeof(uint64_t);
  }
  size_t sketch_bytes(int capacity) const {
    return factors_offset(capacity) + static_cast<size_t>(capacity) * factor_bytes_;
  }

  const uint64_t* sketch_word(const RowPlace& at, int word) const {
    const auto group = static_cast<size_t>(at.row / kGroupRows);
    return reinterpret_cast<const uint64_t*>(at.sketch) +
           (group * sketch_words_ + word) * kGroupRows + at.row % kGroupRows;
  }
  /// Counted from the sketch's end.
  uint64_t payload_word(const RowPlace& at, int word) const {
    uint64_t value;
    std::memcpy(&value, row_payload(at) + static_cast<size_t>(word) * sizeof value, sizeof value);
    return value;
  }
  uint64_t sign_word(const RowPlace& at, int word) const {
    return word < sketch_words_ ? *sketch_word(at, word) : payload_word(at, word - sketch_words_);
  }
  const uint8_t* row_factors(const RowPlace& at) const {
    return at.sketch + factors_offset(at.capacity) + static_cast<size_t>(at.row) * factor_bytes_;
  }
  const uint8_t* row_payload(const RowPlace& at) const {
    return at.payload + static_cast<size_t>(at.row) * payload_bytes_;
  }

  /// A row of a block whose payload lies after its sketch.
  WritableRow row_of_block(uint8_t* block, int capacity, int row) const {
    return {block, block + sketch_bytes(capacity), capacity, row};
  }

  /// Writes a row-format code into a row of a block, or reads it back, exactly.
  void put_row(const uint8_t* code, const WritableRow& at) const;
  void get_row(const RowPlace& at, uint8_t* code) const;
  /// Copies what a row has in its sketch to a row of another block.
  void copy_sketch(const RowPlace& from, const WritableRow& to) const;

 private:
  void put_sign_word(uint64_t word, int number, const WritableRow& at) const;
  void put_levels(const uint8_t* code, const WritableRow& at) const;
  void get_levels(const RowPlace& at, uint8_t* code) const;

  int dim_;
  bool splits_levels_;
  int sign_words_ = 0;
  int sketch_words_ = 0;
  size_t factor_bytes_ = 0;
  size_t payload_bytes_ = 0;
  size_t row_bytes_ = 0;
  size_t row_format_bytes_ = 0;
};

/// Rows in blocks, borrowed: all blocks but the last are full. `data` is aligned to 64 bytes, and
/// kReadAhead bytes after the last block can be read, as can those before and after `payloads`,
/// which end with the last row's.
struct BlockRows {
  const uint8_t* data = nullptr;
  int64_t rows = 0;
  int64_t first_row = 0;              // the position of the first row in the whole
  const uint8_t* payloads = nullptr;  // where they lie apart: `data` is then sketches side by side

  RowPlace place(const BlockLayout& layout, int64_t row) const;
  /// From a block's sketch, or payload, to the next one's.
  size_t sketch_stride(const BlockLayout& layout) const {
    return payloads != nullptr ? layout.sketch_bytes(kBlockRows) : layout.block_bytes();
  }
  size_t payload_stride(const BlockLayout& layout) const {
    return payloads != nullptr ? kBlockRows * layout.payload_bytes() : layout.block_bytes();
  }
};

/// The row, for the owner of its memory.
inline WritableRow writable(const RowPlace& at) {
  return {const_cast<uint8_t*>(at.sketch), const_cast<uint8_t*>(at.payload), at.capacity, at.row};
}

/// Kernels load whole registers: they read this far beyond a row's bytes.
inline constexpr size_t kReadAhead = 64;

}  // namespace polarquant
