// SPDX-License-Identifier: MIT
// The blocks of a search in order, as tiles of the rows that a filter lets through.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/scan/kernels/tile.h"
#include "src/scan/scan_codec.h"

namespace polarquant {

/// Whether a row takes part; called from any thread. Empty: every row does.
using RowFilter = std::function<bool(int64_t row)>;

class TileLoader {
 public:
  /// Everything is borrowed.
  TileLoader(const ScanCodec& codec, std::span<const BlockRows> spans, const RowFilter& filter);

  int64_t blocks() const { return blocks_; }
  /// Loads blocks first … first+count−1 (at most kTileBlocks), leaving out those of which the filter
  /// lets no row through.
  void load(int64_t first, int64_t count, ScanTile* tile) const;

 private:
  void add_block(const BlockRows& span, int64_t block, ScanTile* tile) const;

  const ScanCodec& codec_;
  std::span<const BlockRows> spans_;
  const RowFilter& filter_;
  std::vector<int64_t> first_block_;  // of each span
  int64_t blocks_ = 0;
};

}  // namespace polarquant
