// SPDX-License-Identifier: MIT
// The tile scan of trained codes, whose segments differ: one kernel for all that have whole
// segments, and one for any.
#include "cuda/tile_scan_kernel.cuh"

namespace polarquant::cuda {

namespace {

template <int kStep>
void launch(const TileScan& scan, const TilePlan& plan, int grid, cudaStream_t stream) {
  switch (plan.queries) {
    case 8:
      return launch_tile_scan<8, 1, kStep, true>(scan, plan, grid, stream);
    case 64:
      return launch_tile_scan<64, 1, kStep, true>(scan, plan, grid, stream);
    default:
      return launch_tile_scan<128, 1, kStep, true>(scan, plan, grid, stream);
  }
}

}  // namespace

void launch_trained_tile_scan(const TileScan& scan, const TilePlan& plan, int grid,
                              cudaStream_t stream) {
  if (has_whole_segments(scan.code)) return launch<kTrained>(scan, plan, grid, stream);
  launch<kAnyTrained>(scan, plan, grid, stream);
}

}  // namespace polarquant::cuda
