// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// Takes the probed lists without rows out of probes.lists.
void drop_empty_lists(const ListsView& lists, const ProbesView& probes, cudaStream_t stream);
/// Counts each list's items: sets probes.places, items.list_seeds and items.list_others.
void count_items(const ListsView& lists, const ProbesView& probes, const ItemsView& items,
                 cudaStream_t stream);
/// Orders the items by lists, in groups: sets items.first_items, groups, totals. Groups of the
/// same rows lie side by side.
void group_items(const ListsView& lists, const ItemsView& items, cudaStream_t stream);
/// Queries as they are prepared for lists.
struct ItemQueries {
  const float* rotated;     // (nq, dim)
  const QueryTerms* terms;  // (nq)
  float exactness;
  bool bounded;              // bounds are made
  const ListFilter* filter;  // (lists), or null; with it:
  const uint8_t* ranks_few;  // (nq), as SearchRequest::ranks_few
};
/// Prepares each query for each list that it probes, by the float operations of
/// Codec::residual_query and set_scan_query (src/scan/model/scan_query.cc) in their order: sets
/// items.queries, constants and values.
void prepare_items(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                   ItemQueries queries, const ItemsView& items, cudaStream_t stream);

}  // namespace polarquant::cuda
