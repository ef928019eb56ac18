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
/// Orders the items by lists, in groups: sets items.first_items, groups, group_count. Groups of the
/// same rows lie side by side.
void group_items(const ListsView& lists, const ItemsView& items, cudaStream_t stream);
/// Prepares each query for each list that it probes, by the float operations of
/// Codec::residual_query and set_scan_query (src/scan/model/scan_query.cc) in their order: sets
/// items.queries, constants and values. rotated: (nq, dim), terms: (nq). Makes bounds where
/// `bounded`.
void prepare_items(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                   const float* rotated, const QueryTerms* terms, float exactness, bool bounded,
                   const ItemsView& items, cudaStream_t stream);

}  // namespace polarquant::cuda
