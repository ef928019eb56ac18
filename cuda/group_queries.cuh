// SPDX-License-Identifier: MIT
// A group of a list's queries in shared memory.
#pragma once

#include "cuda/lists_view.h"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {

/// Queries side by side.
template <int kItems>
struct GroupQueries {
  QueryConstants constants[kItems];
  Ranked thresholds[kItems];
  float reach[kItems];
  int32_t queries[kItems];
};

/// Loads the first `count` items of a group, by all threads of a block, which must wait afterwards.
template <int kItems>
__device__ void load_group(const ItemsView& items, const ItemGroup& group, uint32_t count,
                           const Ranked* thresholds, GroupQueries<kItems>* queries) {
  constexpr int kWords = sizeof(QueryConstants) / sizeof(uint32_t);
  const auto* from = reinterpret_cast<const uint32_t*>(items.constants + group.first_item);
  auto* to = reinterpret_cast<uint32_t*>(queries->constants);
  for (uint32_t i = threadIdx.x; i < count * kWords; i += blockDim.x) to[i] = from[i];
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const int32_t query = items.queries[group.first_item + i];
    const Ranked threshold = thresholds[query];
    queries->queries[i] = query;
    queries->thresholds[i] = threshold;
    queries->reach[i] = similarity_of(threshold);
  }
}

}  // namespace polarquant::cuda
