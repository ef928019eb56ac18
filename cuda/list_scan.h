// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/cuda_check.h"
#include "cuda/device_lists.h"
#include "cuda/lists_view.h"

namespace polarquant::cuda {

/// How lists are scanned.
struct ListScanPlan {
  bool by_sketches = false;
  uint32_t group_items = 0;  // queries of a list that its rows are scored with together
  uint32_t group_rows = 0;   // rows of the list that a thread block takes at a time
  int64_t most_groups = 0;   // groups of such items and rows
  int multiprocessors = 0;
};
/// By sketches: only searches with bounds.
ListScanPlan plan_list_scan(const CodeView& code, const DeviceLists& lists, int64_t nq,
                            int64_t nprobe, bool by_sketches, int multiprocessors);

/// Thread blocks of a scan, which take group after group: as many as run at once.
template <typename Kernel>
unsigned grid_of(Kernel kernel, int threads, const ListScanPlan& plan) {
  int resident = 0;
  POLAR_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0));
  return static_cast<unsigned>(
      std::min<int64_t>(plan.most_groups, int64_t{std::max(resident, 1)} * plan.multiprocessors));
}

/// Rows and queries of a scan, and where its results go.
struct ListScanTask {
  ItemsView items;
  const uint64_t* allowed;   // a word for each block; null: every row
  const Ranked* thresholds;  // (nq)
  RankedLists best;
};

/// Scans the items' lists for their queries and lists the rows that reach the threshold by the
/// least of score and bounds: decodes the rows whose bound by the sketch reaches it
/// (list_sketches.cu).
void scan_by_sketches(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                      const ListScanPlan& plan, cudaStream_t stream);
/// The same by score alone, by matrix products of all rows with the queries of their list
/// (list_tiles.cu). `only_seeds`: for items that are seeds.
void scan_by_tiles(const CodeView& code, const ListsView& lists, const ListScanTask& task,
                   bool only_seeds, const ListScanPlan& plan, cudaStream_t stream);

/// Ranks the listed rows, whose ranks are by score alone, by the least of score and bounds; those
/// that no longer reach the threshold become 0.
void bound_ranks(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                 const ListScanTask& task, cudaStream_t stream);

/// The most lists that are seeds of a query, and rows that are named for it in a round.
inline constexpr int kMostSeeds = 256;
inline constexpr int kSeedNames = 64;
/// Ranks rows of each query's seeds by the least of score and bounds, those with the largest
/// bounds: into `named`, whose capacity is a multiple of kSeedNames; 0 where there are fewer.
void rank_seeds(const CodeView& code, const ListsView& lists, const ProbesView& probes,
                const ListScanTask& task, const RankedLists& named, cudaStream_t stream);

}  // namespace polarquant::cuda
