// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// Queries whose sketches are scanned together: more would wait for population counts.
inline constexpr int kSketchQueries = 4;

/// Every `stride`-th block from the first on.
struct BlockRange {
  int64_t blocks;  // how many of them
  int64_t stride;
};

/// The most warps of a scan, each of which names its most promising row.
int sketch_scan_warps(int multiprocessors);

/// Stage 1 of a search (docs/dev/bounds.md) for queries first … first+count−1, count ≤
/// kSketchQueries: rows of the range whose bound reaches their query's threshold go into its list,
/// with their bound; the row of the largest bound that each warp saw goes into `promising`, (nq,
/// sketch_scan_warps), 0 for warps that do not exist. `candidates.entries` null: none are listed.
void sketch_scan(const CodeView& code, const QueryView& queries, int first, int count,
                 const RowMask& mask, BlockRange range, const Ranked* thresholds,
                 const RankedLists& candidates, Ranked* promising, int multiprocessors,
                 cudaStream_t stream);

}  // namespace polarquant::cuda
