// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/device_lists.h"
#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// How lists are scanned.
struct ListScanPlan {
  bool by_sketches = false;
  uint32_t group_items = 0;  // queries of a list that its rows are scored with together
  uint32_t group_rows = 0;   // rows of the list that a thread block takes at a time
  int unit_rows = 0;         // and a warp
  int64_t most_groups = 0;   // groups of such items and rows
  unsigned blocks = 0;       // thread blocks, which take group after group
};
/// By sketches: for few queries, with bounds.
ListScanPlan plan_list_scan(const CodeView& code, const DeviceLists& lists, int64_t nq,
                            int64_t nprobe, bool by_sketches, int multiprocessors);

/// What a scan does with rows whose score reaches their query's threshold.
enum class ListMatches {
  ranked,   // they are listed by their score
  bounded,  // listed by the least of score and bounds, if that reaches too
};

/// Rows and queries of a scan, and where its results go.
struct ListScanTask {
  ItemsView items;
  const uint64_t* allowed;  // a word for each block; null: every row
  bool only_seeds;          // for items that are seeds
  ListMatches matches;
  const Ranked* thresholds;  // (nq)
  RankedLists best;
};

/// Scans the items' lists for their queries and lists the rows that reach the threshold: it scores
/// the rows one by one whose bound by the sketch reaches it (list_sketches.cu), and bounds them.
void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream);
/// The same by matrix products of all rows with the queries of their list (list_tiles.cu).
void scan_by_tiles(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                   const ListScanPlan& plan, cudaStream_t stream);

/// Replaces ranks by score with ranks by the least of score and bounds: `entries`, (nq, count), of
/// rows of probed lists; 0 stays.
void bound_ranks(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                 const ItemsView& items, int64_t count, Ranked* entries, cudaStream_t stream);

}  // namespace polarquant::cuda
