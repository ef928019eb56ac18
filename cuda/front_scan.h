// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// Queries whose fronts are scanned together: more would wait for population counts.
inline constexpr int kFrontQueries = 4;

/// Every `stride`-th block from the first on.
struct BlockRange {
  int64_t blocks;  // so many of them
  int64_t stride;
};

/// Warps of a scan at most, each of which names its most promising row.
int front_scan_warps(int multiprocessors);

/// Stage 1 of a search (docs/scan.md) for queries first … first+count−1, count ≤ kFrontQueries:
/// rows of the range whose bound reaches their query's threshold go into its list, with their
/// bound; the row of the largest bound that each warp saw goes into `promising`, (nq,
/// front_scan_warps), 0 for warps that there are not. `survivors.entries` null: none are listed.
void front_scan(const CodeView& code, const QueryView& queries, int first, int count,
                const RowMask& mask, BlockRange range, const Ranked* thresholds,
                const RankedLists& survivors, Ranked* promising, int multiprocessors,
                cudaStream_t stream);

}  // namespace polarquant::cuda
