// SPDX-License-Identifier: MIT
// An inverted file, and the lists that a search's queries probe, as kernels see them.
#pragma once

#include <cstdint>

#include "cuda/code_view.h"

namespace polarquant::cuda {

/// See ListsDescription.
struct ListsView {
  int64_t count;
  const uint32_t* first_blocks;  // (count)
  const uint32_t* rows;          // (count)
  int32_t coarse_is_l2;
  const float* centroids;        // (count, dim)
  const float* rotated_centres;  // (count, dim), or null
  const float* centre_norms;     // (count), or null
  Int8Description values;
};

/// The lists that queries probe, as ranked rows whose rows are lists: (nq, nprobe), in no order, 0
/// for lists without rows here.
struct ProbesView {
  int32_t nq;
  int32_t nprobe;
  Ranked* lists;
  /// (nq): probes that rank no lower are the query's seeds, whose rows give the first threshold.
  Ranked* seed_reach;
  uint32_t* places;  // (nq, nprobe): the place among its list's seeds, or its other items
};

/// The most queries of a list that its rows are scanned for together; by products of kTileRows rows
/// of two stages fewer.
inline constexpr int kMostItems = 64;
inline constexpr int kTwoStageTileItems = 32;
inline constexpr int kTileRows = 16;

/// Items of one list, side by side, and some of its rows to score them with.
struct ItemGroup {
  uint32_t list;
  uint32_t first_item;
  uint32_t count;
  uint32_t seeds;      // of these, the first ones
  uint32_t first_row;  // of the list
  uint32_t rows;
};

/// Items in the low half, groups in the high one: both are summed at once.
using ItemTotals = unsigned long long;

/// An item is a query and a list that it probes; items of a list lie side by side, seeds first.
struct ItemsView {
  uint32_t group_items;   // of a group, at most
  uint32_t group_rows;    // likewise
  uint32_t* list_seeds;   // (lists): items of each list that are seeds
  uint32_t* list_others;  // (lists): items that are not
  uint32_t* first_items;  // (lists)
  ItemGroup* groups;
  ItemTotals* totals;         // one: of all lists
  uint32_t* taken_groups;     // one: of a scan
  int32_t* queries;           // (items)
  QueryConstants* constants;  // (items), about the list's centre
  int8_t* values;             // (items, padded_dim), the bytes of a group8's four words together
};

__device__ inline uint32_t group_count(const ItemsView& items) {
  return static_cast<uint32_t>(*items.totals >> 32);
}

}  // namespace polarquant::cuda
