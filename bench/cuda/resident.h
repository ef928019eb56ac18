// SPDX-License-Identifier: MIT
// Queries and results in the device's memory beside those in the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "polarquant/polarquant.h"

namespace polarquant::bench {

struct ResidentRun {
  const polar_cuda_index* index;
  int dim;
  const std::vector<float>* queries;
  std::vector<int64_t> batches;
  int64_t results;  // k
};

void print_resident(const ResidentRun& run);

}  // namespace polarquant::bench
