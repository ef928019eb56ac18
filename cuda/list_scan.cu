// SPDX-License-Identifier: MIT
#include "cuda/list_scan.h"

#include <algorithm>

namespace polarquant::cuda {
namespace {

/// Of a thread block.
constexpr int kWarps = 8;
/// Thread blocks for each multiprocessor that few rows are parted for.
constexpr int64_t kBlocksPerMultiprocessor = 4;
/// A warp takes so many rows of a list at a time; a thread block so many of these for each of its
/// warps, and one where there are few rows.
constexpr int kUnits = 4;

}  // namespace

ListScanPlan plan_list_scan(const CodeView& code, const DeviceLists& lists, int64_t nq,
                            int64_t nprobe, bool by_sketches, int multiprocessors) {
  const int64_t group_items = !by_sketches && code.stages == 2 ? kTwoStageTileItems : kMostItems;
  const int64_t items = nq * nprobe;
  const int64_t item_groups = std::min(items, items / group_items + lists.view().count);
  const int64_t blocks = kBlocksPerMultiprocessor * multiprocessors;
  const int unit_rows = by_sketches ? kBlockRows : kTileRows;
  const int64_t many_rows = int64_t{kWarps} * kUnits * unit_rows;
  const bool few = item_groups * lists.mean() < blocks * many_rows;
  ListScanPlan plan;
  plan.by_sketches = by_sketches;
  plan.multiprocessors = multiprocessors;
  plan.group_items = static_cast<uint32_t>(group_items);
  plan.group_rows = static_cast<uint32_t>(kWarps * unit_rows * (few ? 1 : kUnits));
  // No more than each list's groups of items times its rows: every group but each list's last is
  // full, and a query probes a list once.
  const int64_t probed = std::min(nprobe * lists.longest(), lists.rows());
  const int64_t rows = nq * probed / group_items + lists.rows() + 1;
  plan.most_groups = item_groups + rows / plan.group_rows + 1;
  return plan;
}

}  // namespace polarquant::cuda
