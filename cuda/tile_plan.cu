// SPDX-License-Identifier: MIT
#include "cuda/tile_plan.h"

#include <algorithm>

namespace polarquant::cuda {
namespace {

constexpr int kTileQueries[] = {8, 64, 128};

/// With as many warp groups as fit; none: it does not fit.
TilePlan fit(const CodeView& code, int queries, int buffers, size_t most_shared_bytes) {
  const size_t query_bytes =
      static_cast<size_t>(even(code.segments)) * kSegmentDims * static_cast<size_t>(queries);
  const size_t warp_bytes = static_cast<size_t>(buffers) * WarpBuffer(code).bytes();
  // The system's part of the first kilobyte is before the tables too.
  constexpr size_t kSystemBytes = 1024;
  const size_t sketch_bytes = kTableBytes - kSystemBytes -
                              static_cast<size_t>(queries) * sizeof(ReachTest) -
                              (kMaxWarps * kMaxBuffers + 2) * sizeof(uint64_t);
  const size_t sketch_warps = sketch_bytes / warp_bytes;
  TilePlan plan;
  for (int groups = max_warp_groups(queries); groups >= 1; --groups) {
    const auto warps = static_cast<size_t>(groups) * kGroupWarps;
    const size_t payload_warps = warps - std::min(warps, sketch_warps);
    const size_t bytes = 2 * kTableBytes + query_bytes + warps * kWaitingMatches * sizeof(Match) +
                         payload_warps * warp_bytes;
    if (bytes > most_shared_bytes) continue;
    plan.queries = queries;
    plan.buffers = buffers;
    plan.warp_groups = groups;
    plan.sketch_warps = static_cast<int>(std::min(warps, sketch_warps));
    plan.shared_bytes = bytes;
    break;
  }
  return plan;
}

}  // namespace

TilePlan plan_tile_scan(const CodeView& code, int nq, size_t most_shared_bytes) {
  // The least tile that has all queries, or else the largest that fits. More warp groups hide more
  // than a second buffer for each (docs/dev/tuning.md, "CUDA").
  TilePlan best;
  for (const int queries : kTileQueries) {
    if (queries > kMostQueriesUnlessPlain && !is_plain(code)) break;
    TilePlan plan = fit(code, queries, 2, most_shared_bytes);
    const TilePlan single = fit(code, queries, 1, most_shared_bytes);
    if (single.warp_groups > plan.warp_groups) plan = single;
    if (plan.queries == 0) break;
    best = plan;
    if (queries >= nq) break;
  }
  return best;
}

}  // namespace polarquant::cuda
