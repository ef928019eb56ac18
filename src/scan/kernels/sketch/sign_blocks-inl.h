// SPDX-License-Identifier: MIT
// Blocks as the first stage reads them.
#if defined(POLARQUANT_SIGN_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POLARQUANT_SIGN_BLOCKS_INL_H_
#undef POLARQUANT_SIGN_BLOCKS_INL_H_
#else
#define POLARQUANT_SIGN_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "src/scan/kernels/bounds/block_factors-inl.h"
#include "src/scan/kernels/tile.h"
#include "src/scan/layout/block_layout.h"

HWY_BEFORE_NAMESPACE();
namespace polarquant {
namespace HWY_NAMESPACE {

/// A block as the first stage reads it.
struct SignBlock {
  const uint64_t* words;
  const uint8_t* factors;
  int capacity;
  uint64_t allowed;
  uint32_t first;  // of its rows in the tile
  /// The next block's sketch, if it is to be fetched.
  const uint8_t* next;
};

/// Blocks that a search goes through in one call, so that the query stays in registers.
struct SignBlocks {
  const BlockLayout& layout;
  const ScanTile& tile;
  int first;
  int end;
  bool fetch_next;

  HWY_ATTR HWY_INLINE SignBlock block(int i) const {
    const uint8_t* data = tile.sketch[i];
    return {reinterpret_cast<const uint64_t*>(data),
            data + layout.factors_offset(tile.capacity[i]),
            tile.capacity[i],
            tile.allowed[i],
            static_cast<uint32_t>(i * kBlockRows),
            fetch_next && i + 1 < tile.blocks ? tile.sketch[i + 1] : nullptr};
  }
};

/// The factors of a block's rows, units left out, where they are not kept in registers.
struct BlockFactors {
  alignas(64) float norm[kBlockRows + kGroupRows];
  alignas(64) float constant[kBlockRows + kGroupRows];  // without the linear bound's weight

  HWY_ATTR void load(const SignBlock& block, const FactorFormat& format) {
    widen_factors(format, block.factors, block.capacity, norm, constant);
    // Only lengths have no sign.
    if (format.signed_bias) return;
    for (int row = 0; row < block.capacity; ++row) {
      norm[row] = constant[row];
      constant[row] *= constant[row];
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace polarquant
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
