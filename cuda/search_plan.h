// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/device_index.h"
#include "cuda/interface.h"
#include "cuda/sketch_scan.h"
#include "cuda/tile_scan.h"

namespace polarquant::cuda {

/// How a group of queries is searched.
struct GroupPlan {
  bool staged = false;
  bool bounded = false;
  bool reranks = false;  // tiles list rows that may reach, which are ranked afterwards
  int64_t nq = 0;
  int64_t k = 0;
  uint32_t list_rows = 0;       // of `matches` and `best`
  uint32_t candidate_rows = 0;  // in stages
  uint32_t ranked_rows = 0;     // in stages: no more are ranked one by one
  BlockRange sample = {};       // tiles
  uint32_t sampled_groups = 0;  // best rows of it, for a query; 0: no sample
  uint32_t candidates = 0;      // those of them that are ranked with their bounds
  TilePlan tile;
};

GroupPlan plan_group(const DeviceIndex& index, const SearchRequest& request, int64_t nq);

}  // namespace polarquant::cuda
