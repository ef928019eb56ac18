// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "polarquant/polarquant.h"

namespace polarquant::bench {

struct SeveralDevicesRun {
  const polar_codec* codec;
  const std::vector<uint8_t>* codes;
  int64_t rows;
  const polar_cuda_index* one;  // the same codes on device 0
  int32_t devices;              // how many, the first ones
  const std::vector<float>* queries;
  std::vector<int64_t> batches;
  int64_t results;  // k
};

/// Prints how long searches take on one device, on several that have a part of the rows each, and
/// on several that have all rows each, in turns; and whether all of them agree.
void print_several_devices(const SeveralDevicesRun& run);

}  // namespace polarquant::bench
