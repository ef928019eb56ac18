// SPDX-License-Identifier: MIT
#include "src/scan/tile_loader.h"

#include <algorithm>
#include <bit>

#include "src/scan/row_levels.h"

namespace polarquant {

TileLoader::TileLoader(const ScanCodec& codec, std::span<const BlockRows> spans, const RowFilter& filter)
    : codec_(codec), spans_(spans), filter_(filter) {
  for (const BlockRows& span : spans_) {
    first_block_.push_back(blocks_);
    blocks_ += (span.rows + kBlockRows - 1) / kBlockRows;
  }
}

void TileLoader::add_block(const BlockRows& span, int64_t block, ScanTile* tile) const {
  const int64_t first_row = block * kBlockRows;
  const int rows = static_cast<int>(std::min<int64_t>(kBlockRows, span.rows - first_row));
  uint64_t allowed = rows == kBlockRows ? ~uint64_t{0} : (uint64_t{1} << rows) - 1;
  if (filter_) {
    for (int row = 0; row < rows; ++row) {
      if (!filter_(span.first_row + first_row + row)) allowed &= ~(uint64_t{1} << row);
    }
    if (allowed == 0) return;
  }
  const int slot = tile->blocks++;
  const uint8_t* data = span.data + static_cast<size_t>(block) * codec_.layout().block_bytes();
  tile->block[slot] = data;
  tile->room[slot] = BlockLayout::room(rows);
  tile->first_row[slot] = span.first_row + first_row;
  tile->allowed[slot] = allowed;
  tile->next[slot] = first_row + 2 * kBlockRows <= span.rows;
}

void TileLoader::load(int64_t first, int64_t count, ScanTile* tile) const {
  tile->blocks = 0;
  auto span = static_cast<size_t>(std::upper_bound(first_block_.begin(), first_block_.end(), first) -
                                  first_block_.begin() - 1);
  for (int64_t block = first; block < first + count; ++block) {
    while (span + 1 < spans_.size() && block >= first_block_[span + 1]) ++span;
    add_block(spans_[span], block - first_block_[span], tile);
  }
  // The mean of two rows: an outlier alone would make guesses poor.
  tile->typical = {};
  if (tile->blocks == 0 || codec_.layout().factor_bytes() == 0) return;
  const int last = tile->blocks - 1;
  for (const int block : {0, last}) {
    const RowPlace at = {tile->block[block], tile->room[block], std::countr_zero(tile->allowed[block])};
    const ScanTerms terms = load_terms(codec_, at);
    tile->typical.constant += terms.constant / 2;
    tile->typical.norm += terms.norm / 2;
  }
}

}  // namespace polarquant
