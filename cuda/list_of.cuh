// SPDX-License-Identifier: MIT
// The list of a row, and the item of a probe.
#pragma once

#include "cuda/lists_view.h"
#include "cuda/row_terms.cuh"

namespace polarquant::cuda {

/// The list of a row: the last one that begins at its block or before. Lists without rows begin
/// where the next one does, and so come before it.
__device__ inline int64_t list_of(const ListsView& lists, int64_t row) {
  const auto block = static_cast<uint32_t>(row / kBlockRows);
  int64_t first = 0;
  int64_t end = lists.count;
  while (end - first > 1) {
    const int64_t middle = (first + end) / 2;
    if (lists.first_blocks[middle] <= block) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

/// `at`: the number of a probe among all, (nq, nprobe).
__device__ inline bool is_seed(const ProbesView& probes, int64_t at) {
  return probes.lists[at] >= probes.seed_reach[at / probes.nprobe];
}
__device__ inline size_t item_of(const ProbesView& probes, const ItemsView& items, int64_t at) {
  const int64_t list = row_of(probes.lists[at]);
  return items.first_items[list] + probes.places[at] +
         (is_seed(probes, at) ? 0 : items.list_seeds[list]);
}

}  // namespace polarquant::cuda
