// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/device_lists.h"
#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// How lists are scanned.
struct ListScanPlan {
  bool by_sketches = false;
  uint32_t group_items = 0;  // queries of a list that its rows are held against together
  uint32_t group_rows = 0;   // rows of the list that a thread block takes at a time
  int unit_rows = 0;         // and a warp
  int64_t most_groups = 0;   // of such items and rows
  unsigned blocks = 0;       // thread blocks, which have group after group
};
/// By sketches: few queries, with bounds.
ListScanPlan plan_list_scan(const CodeView& code, const DeviceLists& lists, int64_t nq,
                            int64_t nprobe, bool by_sketches, int multiprocessors);

/// What a scan does with rows whose score reaches their query's threshold.
enum class ListMatches {
  ranked,   // they are listed by their score
  bounded,  // by the least of score and bounds, if that reaches it too
};

/// What a scan goes through, and for what.
struct ListScanTask {
  ItemsView items;
  const uint64_t* allowed;  // a word a block, or null: every row
  bool only_seeds;          // of items that are seeds
  ListMatches matches;
  const Ranked* thresholds;  // (nq)
  RankedLists best;
};

/// Scans the items' lists for their queries and lists rows that reach the threshold: row by row,
/// for those whose sketch's bound reaches it (list_sketches.cu), which are bounded.
void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream);
/// The same by matrix products of all rows with the queries of their list (list_tiles.cu).
void scan_by_tiles(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                   const ListScanPlan& plan, cudaStream_t stream);

/// Puts ranks by the least of score and bounds in the place of ranks by score: `entries`, (nq,
/// count), of rows of probed lists; 0 stays.
void bound_ranks(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                 const ItemsView& items, int64_t count, Ranked* entries, cudaStream_t stream);

}  // namespace polarquant::cuda
