// SPDX-License-Identifier: MIT
#include "src/scan/tile_loader.h"

#include <algorithm>
#include <bit>

#include "src/scan/row_levels.h"

namespace polarquant {

TileLoader::TileLoader(const ScanCodec& codec, std::span<const BlockRows> spans,
                       const RowFilter& filter)
    : codec_(codec), spans_(spans), filter_(filter) {
  for (const BlockRows& span : spans_) {
    first_block_.push_back(blocks_);
    blocks_ += (span.rows + kBlockRows - 1) / kBlockRows;
  }
}

TileLoader::TileLoader(const ScanCodec& codec, CodeRows codes, const RowFilter& filter)
    : codec_(codec),
      codes_(codes),
      filter_(filter),
      blocks_((codes.rows + kBlockRows - 1) / kBlockRows) {}

void TileLoader::add_block(const uint8_t* data, int64_t first_row, int64_t rows,
                           ScanTile* tile) const {
  const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows));
  const uint64_t allowed = filter_.allowed(first_row, count);
  if (allowed == 0) return;
  const int slot = tile->blocks++;
  tile->block[slot] = data;
  tile->room[slot] = BlockLayout::room(count);
  tile->first_row[slot] = first_row;
  tile->allowed[slot] = allowed;
  tile->next[slot] = rows >= 2 * kBlockRows;
}

void TileLoader::load_spans(int64_t first, int64_t count, ScanTile* tile) const {
  auto span = static_cast<size_t>(
      std::upper_bound(first_block_.begin(), first_block_.end(), first) - first_block_.begin() - 1);
  for (int64_t block = first; block < first + count; ++block) {
    while (span + 1 < spans_.size() && block >= first_block_[span + 1]) ++span;
    const int64_t in_span = block - first_block_[span];
    const int64_t row = in_span * kBlockRows;
    add_block(spans_[span].data + static_cast<size_t>(in_span) * codec_.layout().block_bytes(),
              spans_[span].first_row + row, spans_[span].rows - row, tile);
  }
}

void TileLoader::load_packed(int64_t first, int64_t count, AlignedVector<uint8_t>* packed,
                             ScanTile* tile) const {
  const BlockLayout& layout = codec_.layout();
  packed->resize(kTileBlocks * layout.block_bytes() + kReadAhead);
  for (int64_t block = first; block < first + count; ++block) {
    const int64_t first_row = block * kBlockRows;
    const int rows = static_cast<int>(std::min<int64_t>(kBlockRows, codes_.rows - first_row));
    uint8_t* data = packed->data() + static_cast<size_t>(tile->blocks) * layout.block_bytes();
    const int before = tile->blocks;
    add_block(data, first_row, rows, tile);
    if (tile->blocks == before) continue;
    std::fill_n(data, layout.block_bytes(), uint8_t{0});
    const uint8_t* code = codes_.data + static_cast<size_t>(first_row) * layout.row_format_bytes();
    for (int row = 0; row < rows; ++row, code += layout.row_format_bytes()) {
      layout.put_row(code, data, BlockLayout::room(rows), row);
    }
  }
}

void TileLoader::get_row(int64_t row, uint8_t* code) const {
  const BlockLayout& layout = codec_.layout();
  if (codes_.data != nullptr) {
    std::copy_n(codes_.data + static_cast<size_t>(row) * layout.row_format_bytes(),
                layout.row_format_bytes(), code);
    return;
  }
  for (const BlockRows& span : spans_) {
    const int64_t in_span = row - span.first_row;
    if (in_span < 0 || in_span >= span.rows) continue;
    const int64_t block = in_span / kBlockRows;
    const int room =
        BlockLayout::room(std::min<int64_t>(kBlockRows, span.rows - block * kBlockRows));
    layout.get_row(span.data + static_cast<size_t>(block) * layout.block_bytes(), room,
                   static_cast<int>(in_span % kBlockRows), code);
    return;
  }
  fail(StatusCode::internal, "row: {} is in no span", row);
}

void TileLoader::load(int64_t first, int64_t count, AlignedVector<uint8_t>* packed,
                      ScanTile* tile) const {
  tile->blocks = 0;
  if (codes_.data != nullptr) {
    load_packed(first, count, packed, tile);
  } else {
    load_spans(first, count, tile);
  }
  // The mean of two rows: an outlier alone would make guesses poor.
  tile->typical = {};
  if (tile->blocks == 0) return;
  for (const int block : {0, tile->blocks - 1}) {
    const RowPlace at = {tile->block[block], tile->room[block],
                         std::countr_zero(tile->allowed[block])};
    const ScanTerms terms = load_terms(codec_, at);
    tile->typical.constant += terms.constant / 2;
    tile->typical.norm += terms.norm / 2;
  }
}

}  // namespace polarquant
