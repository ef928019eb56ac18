// SPDX-License-Identifier: MIT
#include "src/scan/search/tile_loader.h"

#include <algorithm>
#include <iterator>

namespace polarquant {

TileLoader::TileLoader(const ScanCodec& codec, std::span<const BlockRows> spans,
                       const RowFilter& filter)
    : codec_(codec), spans_(spans), filter_(filter) {
  first_block_.reserve(spans_.size());
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

bool TileLoader::add_block(const RowPlace& place, int64_t first_row, int64_t rows,
                           ScanTile* tile) const {
  const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows));
  const uint64_t allowed = filter_.allowed(first_row, count);
  if (allowed == 0) return false;
  const int slot = tile->blocks++;
  tile->sketch[slot] = place.sketch;
  tile->payload[slot] = place.payload;
  tile->capacity[slot] = place.capacity;
  tile->first_row[slot] = first_row;
  tile->allowed[slot] = allowed;
  return true;
}

// Blocks from `at` on, at this distance.
void TileLoader::add_full_blocks(RowPlace at, size_t sketch_stride, size_t payload_stride,
                                 int64_t first_row, int64_t count, ScanTile* tile) const {
  if (!filter_.keeps_all()) {
    add_allowed_blocks(at, sketch_stride, payload_stride, first_row, count, tile);
    return;
  }
  const int slot = tile->blocks;
  // Part by part, in registers: a lone query shares a tile's loading with no other.
  for (int64_t i = 0; i < count; ++i)
    tile->sketch[slot + i] = at.sketch + static_cast<size_t>(i) * sketch_stride;
  for (int64_t i = 0; i < count; ++i)
    tile->payload[slot + i] = at.payload + static_cast<size_t>(i) * payload_stride;
  for (int64_t i = 0; i < count; ++i) tile->first_row[slot + i] = first_row + i * kBlockRows;
  std::fill_n(tile->capacity + slot, count, kBlockRows);
  std::fill_n(tile->allowed + slot, count, ~uint64_t{0});
  tile->blocks += static_cast<int>(count);
}

// Those of them that the filter keeps rows of: all masks are made together, and most rows' blocks
// may be passed over.
void TileLoader::add_allowed_blocks(RowPlace at, size_t sketch_stride, size_t payload_stride,
                                    int64_t first_row, int64_t count, ScanTile* tile) const {
  constexpr int64_t kPassedTogether = 8;
  const uint64_t* masks = tile->allowed + tile->blocks;
  filter_.masks(first_row, count * kBlockRows, tile->allowed + tile->blocks);
  int slot = tile->blocks;
  for (int64_t i = 0; i < count;) {
    const int64_t end = std::min(count, i + kPassedTogether);
    if (std::all_of(masks + i, masks + end, [](uint64_t mask) { return mask == 0; })) i = end;
    for (; i < end; ++i) {
      const uint64_t allowed = masks[i];
      tile->sketch[slot] = at.sketch + static_cast<size_t>(i) * sketch_stride;
      tile->payload[slot] = at.payload + static_cast<size_t>(i) * payload_stride;
      tile->capacity[slot] = kBlockRows;
      tile->first_row[slot] = first_row + i * kBlockRows;
      tile->allowed[slot] = allowed;
      slot += allowed != 0 ? 1 : 0;
    }
  }
  tile->blocks = slot;
}

void TileLoader::load_spans(int64_t first, int64_t count, ScanTile* tile) const {
  const BlockLayout& layout = codec_.layout();
  auto span = static_cast<size_t>(
      std::upper_bound(first_block_.begin(), first_block_.end(), first) - first_block_.begin() - 1);
  for (int64_t block = first; block < first + count;) {
    while (span + 1 < spans_.size() && block >= first_block_[span + 1]) ++span;
    const BlockRows& rows = spans_[span];
    const size_t sketch_stride = rows.sketch_stride(layout);
    const size_t payload_stride = rows.payload_stride(layout);
    const int64_t row = (block - first_block_[span]) * kBlockRows;
    const int64_t full = std::min(first + count - block, (rows.rows - row) / kBlockRows);
    if (full > 0) {
      add_full_blocks(rows.place(layout, row), sketch_stride, payload_stride, rows.first_row + row,
                      full, tile);
      block += full;
    } else {
      add_block(rows.place(layout, row), rows.first_row + row, rows.rows - row, tile);
      ++block;
    }
  }
}

void TileLoader::grow(int64_t count, AlignedVector<uint8_t>* packed) const {
  packed->resize(static_cast<size_t>(count) * codec_.layout().block_bytes() + kReadAhead);
}

void TileLoader::add_packed(int64_t block, AlignedVector<uint8_t>* packed, ScanTile* tile) const {
  const BlockLayout& layout = codec_.layout();
  const int64_t first_row = block * kBlockRows;
  const int rows = static_cast<int>(std::min<int64_t>(kBlockRows, codes_.rows - first_row));
  uint8_t* block_data = packed->data() + static_cast<size_t>(tile->blocks) * layout.block_bytes();
  WritableRow at = layout.row_of_block(block_data, BlockLayout::capacity(rows), 0);
  if (!add_block(at, first_row, rows, tile)) return;
  std::fill_n(block_data, layout.block_bytes(), uint8_t{0});
  const uint8_t* code = packed_row(first_row);
  for (; at.row < rows; ++at.row, code += layout.row_format_bytes()) layout.put_row(code, at);
}

const BlockRows& TileLoader::span_of(int64_t row) const {
  const auto next = std::upper_bound(
      spans_.begin(), spans_.end(), row,
      [](int64_t wanted, const BlockRows& span) { return wanted < span.first_row; });
  require(next != spans_.begin() && row - std::prev(next)->first_row < std::prev(next)->rows,
          StatusCode::internal, "row: {} is in no span", row);
  return *std::prev(next);
}

void TileLoader::fetch_row(int64_t row) const {
  if (packs()) {
    fetch(packed_row(row), codec_.layout().row_format_bytes());
    return;
  }
  const BlockRows& span = span_of(row);
  const RowPlace at = span.place(codec_.layout(), row - span.first_row);
  __builtin_prefetch(codec_.layout().row_factors(at));
  fetch_code(codec_.layout(), at, codec_.layout().payload_bytes());
}

void TileLoader::get_row(int64_t row, uint8_t* code) const {
  const BlockLayout& layout = codec_.layout();
  if (packs()) {
    std::copy_n(packed_row(row), layout.row_format_bytes(), code);
    return;
  }
  const BlockRows& span = span_of(row);
  layout.get_row(span.place(layout, row - span.first_row), code);
}

void TileLoader::load(int64_t first, int64_t count, AlignedVector<uint8_t>* packed,
                      ScanTile* tile) const {
  tile->is_filtered = !filter_.keeps_all();
  if (!packs()) {
    load_spans(first, count, tile);
    return;
  }
  grow(count, packed);
  for (int64_t block = first; block < first + count; ++block) add_packed(block, packed, tile);
}

void TileLoader::load_spread(int64_t count, AlignedVector<uint8_t>* packed, ScanTile* tile) const {
  tile->is_filtered = !filter_.keeps_all();
  if (packs()) grow(count, packed);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t block = i * blocks_ / count;
    if (packs()) {
      add_packed(block, packed, tile);
    } else {
      load_spans(block, 1, tile);
    }
  }
}

}  // namespace polarquant
