// SPDX-License-Identifier: MIT
// The tile scan of plain codes, one kernel for each rate.
#include <string>

#include "cuda/tile_scan_kernel.cuh"

namespace polarquant::cuda {
namespace {

template <int kStep, bool kSigns>
void launch(const TileScan& scan, const TilePlan& plan, int grid, cudaStream_t stream) {
  switch (plan.queries) {
    case 8:
      return launch_tile_scan<8, 1, kStep, kSigns>(scan, plan, grid, stream);
    case 64:
      return launch_tile_scan<64, 1, kStep, kSigns>(scan, plan, grid, stream);
    default:
      return launch_tile_scan<128, 1, kStep, kSigns>(scan, plan, grid, stream);
  }
}

}  // namespace

void launch_plain_tile_scan(const TileScan& scan, const TilePlan& plan, int grid,
                            cudaStream_t stream) {
  struct Rate {
    int step_bits;
    bool signs;
    void (*launch)(const TileScan&, const TilePlan&, int, cudaStream_t);
  };
  static constexpr Rate kRates[] = {
      {1, false, launch<1, false>}, {2, false, launch<2, false>}, {3, false, launch<3, false>},
      {2, true, launch<2, true>},   {3, true, launch<3, true>},   {4, true, launch<4, true>},
      {5, true, launch<5, true>},   {6, true, launch<6, true>},   {7, true, launch<7, true>},
  };
  const StageView& stage = scan.code.stage[0];
  const bool signs = stage.signs != SignPlace::none;
  for (const Rate& rate : kRates) {
    if (rate.step_bits == stage.step_bits && rate.signs == signs)
      return rate.launch(scan, plan, grid, stream);
  }
  throw DeviceError(StatusCode::internal,
                    "no tile scan of " + std::to_string(stage.step_bits) + " bits a pair");
}

}  // namespace polarquant::cuda
