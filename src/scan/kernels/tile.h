// SPDX-License-Identifier: MIT
// The work of scan kernels: some blocks, and which of their rows take part.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/scan/model/scan_codec.h"

namespace polarquant {

inline constexpr int kTileBlocks = 2048;
inline constexpr int kTileRows = kTileBlocks * kBlockRows;

/// A row of a tile is numbered 64·block + row of the block.
struct ScanTile {
  int blocks = 0;
  /// Whether `allowed` leaves out more than the rows that a last block lacks.
  bool is_filtered = false;
  const uint8_t* sketch[kTileBlocks];
  const uint8_t* payload[kTileBlocks];
  int capacity[kTileBlocks];
  int64_t first_row[kTileBlocks];
  /// Bit r: row r of the block exists and no filter leaves it out.
  uint64_t allowed[kTileBlocks];
};

inline RowPlace place_of(const ScanTile& tile, uint32_t row) {
  const uint32_t block = row / kBlockRows;
  return {tile.sketch[block], tile.payload[block], tile.capacity[block],
          static_cast<int>(row % kBlockRows)};
}

/// Its position in the whole.
inline int64_t id_of(const ScanTile& tile, uint32_t row) {
  return tile.first_row[row / kBlockRows] + row % kBlockRows;
}

/// Candidates lie far apart, and memory answers slowly: what is fetched so many rows ahead comes in
/// time. What is fetched further ahead than a core has lines under way is waited for
/// (docs/dev/tuning.md, "Kernels").
inline constexpr int kFetchAhead = 24;
inline constexpr int kFirstLevel = 3;  // of caches, as __builtin_prefetch has them
inline constexpr int kSecondLevel = 2;
/// Fetches into the second-level cache, which has more lines under way than the first
/// (docs/dev/tuning.md, "Kernels").
///
/// Inlined, as are its callers: GCC drops calls of a function that does nothing but prefetch.
template <int kLevel = kSecondLevel>
HWY_INLINE void fetch(const uint8_t* data, size_t bytes) {
  constexpr size_t kLine = 64;
  if (bytes == 0) return;
  // As many lines for every row: where a row begins in its line is not predictable.
  for (size_t at = 0; at + 1 < bytes; at += kLine) __builtin_prefetch(data + at, 0, kLevel);
  __builtin_prefetch(data + bytes - 1, 0, kLevel);
}
/// Fetches what a score reads of a row: its signs from a word on, and so much of its payload.
HWY_INLINE void fetch_code(const BlockLayout& layout, const RowPlace& at, size_t payload_bytes,
                           int first_word = 0) {
  for (int word = first_word; word < layout.sketch_words(); ++word)
    __builtin_prefetch(layout.sketch_word(at, word));
  fetch(layout.row_payload(at), payload_bytes);
}

/// Fetches the payloads of a block that will be decoded, if the tile has it. Without this the first
/// read of each row, its ring's end, would be waited for.
HWY_INLINE void fetch_payloads(const BlockLayout& layout, const ScanTile& tile, int block) {
  constexpr size_t kMostFetched = size_t{32} << 10;  // of a first-level cache
  if (block < tile.blocks)
    fetch(tile.payload[block], std::min(kBlockRows * layout.payload_bytes(), kMostFetched));
}

/// Fetches what the second stage reads of rows: factors, and the signs after the sketch or the
/// first of split stages.
class SignFetcher {
 public:
  explicit SignFetcher(const ScanCodec& codec) : layout_(codec.layout()) {
    size_t end = layout_.payload_sign_bytes();
    if (codec.has_split_stages()) {
      const Int8Stage& first = codec.stages()[0];
      sketch_words_ = codec.first_stage_words();
      begin_ = sketch_words_ == first.segments ? first.codes_begin : 0;
      end = first.payload_bytes;
    }
    bytes_ = end - begin_;
  }

  HWY_INLINE void operator()(const RowPlace& at) const {
    __builtin_prefetch(layout_.row_factors(at));
    for (int word = 0; word < sketch_words_; ++word)
      __builtin_prefetch(layout_.sketch_word(at, word));
    fetch(layout_.row_payload(at) + begin_, bytes_);
  }

 private:
  const BlockLayout& layout_;
  int sketch_words_ = 0;
  size_t begin_ = 0;  // of a row's payload
  size_t bytes_ = 0;
};

}  // namespace polarquant
