// SPDX-License-Identifier: MIT
// The blocks of a search in order, as tiles of the rows that a filter lets through.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/codec/code_layout.h"
#include "src/core/aligned_buffer.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/model/scan_codec.h"
#include "src/scan/search/row_filter.h"

namespace polarquant {

class TileLoader {
 public:
  /// Everything is borrowed.
  TileLoader(const ScanCodec& codec, std::span<const BlockRows> spans, const RowFilter& filter);
  /// Rows in the row format, which are packed into blocks as they are loaded.
  TileLoader(const ScanCodec& codec, CodeRows codes, const RowFilter& filter);

  int64_t blocks() const { return blocks_; }
  /// Whether loading packs rows, into memory of a tile's size.
  bool packs() const { return codes_.data != nullptr; }
  /// The row-format code of the row at this position, which must be one of the loaded ones; `code`
  /// has the size of one.
  void get_row(int64_t row, uint8_t* code) const;
  /// Fetches what get_row reads.
  void fetch_row(int64_t row) const;
  /// Adds blocks first … first+count−1 to a tile that they fit into, without those of which the
  /// filter keeps no row. `packed` is memory that the tile may point into; a loader that packs
  /// begins with an empty tile and new memory.
  void load(int64_t first, int64_t count, AlignedVector<uint8_t>* packed, ScanTile* tile) const;
  /// The same for `count` blocks, at most as many as there are, at even distances, into an empty
  /// tile.
  void load_spread(int64_t count, AlignedVector<uint8_t>* packed, ScanTile* tile) const;

 private:
  bool add_block(const RowPlace& place, int64_t first_row, int64_t rows, ScanTile* tile) const;
  void add_full_blocks(RowPlace at, size_t sketch_stride, size_t payload_stride, int64_t first_row,
                       int64_t count, ScanTile* tile) const;
  void add_allowed_blocks(RowPlace at, size_t sketch_stride, size_t payload_stride,
                          int64_t first_row, int64_t count, ScanTile* tile) const;
  /// Writes the tile's next block into memory of its own.
  void add_packed(int64_t block, AlignedVector<uint8_t>* packed, ScanTile* tile) const;
  void grow(int64_t count, AlignedVector<uint8_t>* packed) const;
  const BlockRows& span_of(int64_t row) const;
  const uint8_t* packed_row(int64_t row) const {
    return codes_.data + static_cast<size_t>(row) * codec_.layout().row_format_bytes();
  }
  void load_spans(int64_t first, int64_t count, ScanTile* tile) const;

  const ScanCodec& codec_;
  std::span<const BlockRows> spans_;
  CodeRows codes_;
  const RowFilter& filter_;
  std::vector<int64_t> first_block_;  // for each span
  int64_t blocks_ = 0;
};

}  // namespace polarquant
