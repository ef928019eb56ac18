// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"
#include "cuda/sketch_scan.h"

namespace polarquant::cuda {

/// A tile scan of a sample names one of so many rows, about the best.
inline constexpr int kSampleRows = 16;

/// The tables of a tile scan: entry i of table t has copies side by side, of four bytes, from
/// place[t] + (i << index_shift[t]) on.
struct TileTables {
  uint32_t bytes = 0;  // of all
  uint32_t place[kMaxParts] = {};
  int32_t index_shift[kMaxParts] = {};
};

/// How a tile scan is cut: chosen for a code and a number of queries.
struct TilePlan {
  int queries = 0;  // of a tile; 0: rows of this code are too long
  int warp_groups = 0;
  int buffers = 0;       // of a warp
  int sketch_warps = 0;  // whose buffers lie before the tables
  size_t shared_bytes = 0;
  TileTables tables;
};
TilePlan plan_tile_scan(const CodeView& code, int nq, size_t most_shared_bytes);

/// Scores every row of the range for all queries, without bounds. With `maxima` null, rows that
/// rank no lower than the query's threshold go into `matches`; else it writes one of every
/// kSampleRows rows, about the best, (nq, 4·range.blocks), 0 where none takes part.
void tile_scan(const CodeView& code, const QueryView& queries, const RowMask& mask,
               BlockRange range, const TilePlan& plan, const Ranked* thresholds,
               const RankedLists& matches, Ranked* maxima, int multiprocessors,
               cudaStream_t stream);

}  // namespace polarquant::cuda
