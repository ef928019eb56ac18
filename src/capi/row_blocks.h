// SPDX-License-Identifier: MIT
// Spreads calls that treat rows one by one over threads, in blocks of rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/core/parallel.h"

namespace polarquant::capi {

/// Rows of a block: enough work to hide what a thread costs, and a multiple of every codec's group.
inline constexpr int64_t kBlockRows = 1024;

/// Calls body(first, count) for blocks that cover rows 0 … n−1, on OpenMP's default of threads.
template <typename Body>
void for_row_blocks(int64_t n, const Body& body) {
  const int64_t blocks = n / kBlockRows + (n % kBlockRows != 0 ? 1 : 0);
  parallel_for(blocks, thread_count(0, blocks), [&](int64_t block, int) {
    const int64_t first = block * kBlockRows;
    body(first, std::min(kBlockRows, n - first));
  });
}

}  // namespace polarquant::capi
