// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cuda/tile_scan_kernel.cuh"

namespace polarquant::cuda {
namespace {

template <int N>
void launch(const TileScan& scan, const TilePlan& plan, int grid, cudaStream_t stream) {
  if (scan.code.stages == 2) {
    launch_tile_scan<N, 2, kNotPlain, false>(scan, plan, grid, stream);
  } else {
    launch_tile_scan<N, 1, kNotPlain, false>(scan, plan, grid, stream);
  }
}

}  // namespace

void tile_scan(const CodeView& code, const QueryView& queries, const RowMask& mask,
               BlockRange range, const TilePlan& plan, const Ranked* thresholds,
               const RankedLists& matches, Ranked* maxima, int multiprocessors,
               cudaStream_t stream) {
  TileScan scan = {code,         queries,           mask,   range,
                   thresholds,   matches,           maxima, 1,
                   plan.buffers, plan.sketch_warps, 0,      plan.tables};
  scan.tiles = (queries.nq + plan.queries - 1) / plan.queries;
  // Tiles that run side by side read the same rows at the same time.
  const int ranges = std::max(1, multiprocessors / scan.tiles);
  const int grid = scan.tiles * ranges;
  if (code.is_trained()) return launch_trained_tile_scan(scan, plan, grid, stream);
  if (is_plain(code)) scan.quads = quads(code);
  if (is_plain(code)) return launch_plain_tile_scan(scan, plan, grid, stream);
  if (plan.queries == 8) {
    launch<8>(scan, plan, grid, stream);
  } else {
    launch<kMostQueriesUnlessPlain>(scan, plan, grid, stream);
  }
}

}  // namespace polarquant::cuda
