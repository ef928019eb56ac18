// SPDX-License-Identifier: MIT
#include "cuda/search_plan.h"

#include <algorithm>

namespace polarquant::cuda {
namespace {

/// Bounded searches of up to so many queries run in stages.
constexpr int64_t kStagedQueries = 4;
/// The capacity of lists, and the capacity for each wanted row: a sample leaves about half as many.
constexpr int64_t kListRows = 8192;
constexpr int64_t kListRowsPerResult = 128;
/// Lists that cannot be scanned again have so many times as much.
constexpr int64_t kPreparedListFactor = 4;
/// Blocks of a sample: at least so many, four for each wanted row, and one of so many.
constexpr int64_t kSampleBlocks = 2048;
constexpr int64_t kSampleBlocksPerResult = 4;
constexpr int64_t kSampleEvery = 64;
/// Lists of candidates of the sketches hold one of so many rows. For one of so many the bound may
/// reach the threshold after the scan: these are ranked one by one, at an eighth of the rate at
/// which tiles score all rows.
constexpr int64_t kCandidateEvery = 4;
constexpr int64_t kRankedEvery = 16;
constexpr int64_t kLeastCandidates = 65536;

void plan_tiles(const DeviceIndex& index, const SearchRequest& request, GroupPlan* plan) {
  const CodeView& code = index.code();
  plan->tile = plan_tile_scan(code, static_cast<int>(plan->nq), index.shared_bytes());
  const int64_t blocks = code.blocks();
  if (plan->list_rows >= code.rows || plan->tile.queries == 0) return;
  int64_t wanted =
      std::max({kSampleBlocks, kSampleBlocksPerResult * plan->k, blocks / kSampleEvery});
  // Else a filter would have fewer rows in the sample, and more of all reach the threshold.
  if (request.kept_share > 0)
    wanted =
        std::min(blocks, static_cast<int64_t>(wanted / static_cast<double>(request.kept_share)));
  const int64_t stride = std::max<int64_t>(1, blocks / wanted);
  plan->sample = {(blocks + stride - 1) / stride, stride};
  plan->sampled_groups = static_cast<uint32_t>(plan->sample.blocks * (kBlockRows / kSampleRows));
  plan->candidates = static_cast<uint32_t>(std::min<int64_t>(2 * plan->k, plan->sampled_groups));
}

}  // namespace

GroupPlan plan_group(const DeviceIndex& index, const SearchRequest& request, int64_t nq) {
  const CodeView& code = index.code();
  GroupPlan plan;
  plan.nq = nq;
  plan.k = std::min(request.k, code.rows);
  plan.bounded = request.bounded != 0;
  plan.reranks = plan.bounded || code.is_trained();
  plan.staged = plan.bounded && nq <= kStagedQueries;
  const int64_t wanted = std::max(kListRows, kListRowsPerResult * plan.k) *
                         (request.is_prepared != 0 ? kPreparedListFactor : 1);
  plan.list_rows = static_cast<uint32_t>(std::min(wanted, code.rows));
  plan_tiles(index, request, &plan);
  if (plan.staged) {
    const auto share_of_rows = [&](int64_t every) {
      return static_cast<uint32_t>(
          std::min(std::max(kLeastCandidates, code.rows / every), code.rows));
    };
    plan.candidate_rows = share_of_rows(kCandidateEvery);
    plan.ranked_rows = share_of_rows(kRankedEvery);
  }
  return plan;
}

}  // namespace polarquant::cuda
