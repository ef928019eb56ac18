// SPDX-License-Identifier: MIT
// Blocks in the caller's memory, checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "polarquant/polarquant.h"
#include "src/capi/argument_checks.h"
#include "src/capi/handles.h"
#include "src/core/checked_size.h"
#include "src/scan/layout/block_memory.h"

namespace polarquant::capi {

inline const Codec& require_block_codec(const polar_codec* codec) {
  const Codec& checked = *require_object("codec", codec).codec;
  require(BlockLayout::supports(checked), StatusCode::unsupported,
          "codec: {} has no blocks; Polar0.5 to Polar8, PolarB… and residual codes have",
          print_spec(checked.spec()));
  return checked;
}

/// The caller's blocks, with room for `more` rows.
template <typename Blocks>
Blocks& require_blocks(const BlockLayout& layout, Blocks* blocks, int64_t more = 0) {
  Blocks& checked = require_object("blocks", blocks);
  require_count("blocks.rows", checked.rows, 0);
  // Where the sum is no number, the bytes of as many rows as there can be are none, either.
  const int64_t rows =
      checked.rows + std::min(more, std::numeric_limits<int64_t>::max() - checked.rows);
  const size_t needed = checked_add(layout.bytes(rows), kReadAhead, "bytes of blocks");
  require(checked.data != nullptr, StatusCode::bad_argument, "blocks.data: NULL is not allowed");
  require(reinterpret_cast<uintptr_t>(checked.data) % 64 == 0, StatusCode::bad_argument,
          "blocks.data: {} is not on a 64-byte boundary", static_cast<const void*>(checked.data));
  require(checked.bytes >= needed, StatusCode::bad_argument,
          "blocks.bytes: {} is not allowed; at least {} for {} rows", checked.bytes, needed, rows);
  return checked;
}

}  // namespace polarquant::capi
