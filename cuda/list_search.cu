// SPDX-License-Identifier: MIT
// A search of an inverted file on a device. Every query finds its nprobe lists, and is prepared
// about the centre of each: that is an item. Items are ordered by lists, so that a list's rows are
// scored for all its queries together.
//
// As in a search of all rows, a query has a threshold, the rank of the k-th best of some rows:
// those of its nearest lists, its seeds. Then all lists are scanned, rows that reach the threshold
// are listed, and the k best of these are the answer. Where a list was too short, the rows in it
// have raised the threshold, and the scan is repeated.
//
// Searches with bounds whose lists have few queries each are scanned by sketches, others by tiles.
#include "cuda/list_search.h"

#include <algorithm>
#include <cstring>

#include "cuda/coarse_scores.h"
#include "cuda/device_bits.h"
#include "cuda/final_scores.h"
#include "cuda/list_filter.h"
#include "cuda/list_items.h"
#include "cuda/list_scan.h"
#include "cuda/search.h"
#include "cuda/select_best.h"

namespace polarquant::cuda {
namespace {

/// The capacity of lists of ranked rows, and the capacity for each wanted row.
constexpr int64_t kListRows = 8192;
constexpr int64_t kListRowsPerResult = 128;
/// Rows of the seeds, and of these for each wanted row.
constexpr int64_t kSeedRows = 512;
constexpr int64_t kSeedRowsPerResult = 8;
/// With bounds, one row of several is named: so many for each wanted row, at the least.
constexpr int64_t kNamedPerResult = 8;
constexpr int64_t kLeastNamed = 512;
constexpr int64_t kRowsPerNamed = 64;
/// Lists with so many queries, on average, are scanned by tiles: one of them wants nearly every row
/// decoded. Longer lists need more: a query takes sketches as long as tiles take to decode so many
/// rows and a share of the list's, for 16 queries or fewer (docs/dev/gpu.md, "Lists").
constexpr int64_t kTileQueriesPerList = 12;
constexpr int64_t kSketchQueryRows = 163;
constexpr int64_t kSketchQueryShare = 48;
/// The most memory of the device for the queries of a group, unless one query needs more.
constexpr size_t kGroupBytes = size_t{1} << 30;
constexpr int64_t kMaxGroupQueries = 4096;

struct GroupPlan {
  int64_t nq = 0;
  int64_t k = 0;
  int64_t nprobe = 0;
  int64_t seeds = 0;       // lists of a query; 0: without a first threshold
  int64_t named = 0;       // rows of seeds that are ranked, with bounds
  uint32_t list_rows = 0;  // of `best`
  ListScanPlan scan;
};

/// The host's input of a group, side by side so that it is one copy.
struct GroupInput {
  QueryTerms* terms;   // (nq)
  float* queries;      // (nq, dim)
  float* rotated;      // (nq, dim)
  uint8_t* ranks_few;  // (nq)

  static size_t bytes(const GroupPlan& plan, int dim) {
    const size_t numbers = 2 * static_cast<size_t>(plan.nq) * static_cast<size_t>(dim);
    return static_cast<size_t>(plan.nq) * (sizeof(QueryTerms) + 1) + numbers * sizeof(float);
  }
  GroupInput() = default;
  GroupInput(uint8_t* base, const GroupPlan& plan, int dim)
      : terms(reinterpret_cast<QueryTerms*>(base)),
        queries(reinterpret_cast<float*>(terms + plan.nq)),
        rotated(queries + plan.nq * dim),
        ranks_few(reinterpret_cast<uint8_t*>(rotated + plan.nq * dim)) {}
};

/// The host's results, likewise.
struct GroupOutput {
  int64_t* rows;      // (nq, k)
  float* scores;      // (nq, k)
  float* similarity;  // (nq, k)
  uint32_t* counts;   // (nq), of `best`; and one more, whether a query is refused

  static size_t bytes(const GroupPlan& plan) {
    return static_cast<size_t>(plan.nq * plan.k) * (sizeof(int64_t) + 2 * sizeof(float)) +
           static_cast<size_t>(plan.nq + 1) * sizeof(uint32_t);
  }
  GroupOutput() = default;
  GroupOutput(uint8_t* base, const GroupPlan& plan)
      : rows(reinterpret_cast<int64_t*>(base)),
        scores(reinterpret_cast<float*>(rows + plan.nq * plan.k)),
        similarity(scores + plan.nq * plan.k),
        counts(reinterpret_cast<uint32_t*>(similarity + plan.nq * plan.k)) {}
};

/// Memory of a group, carved from a workspace.
struct GroupMemory {
  RotatedQueries queries;  // where the device prepares them
  uint8_t* input;
  uint8_t* output;
  Ranked* coarse;  // (nq, lists)
  ProbesView probes;
  ItemsView items;
  Ranked* thresholds;  // (nq)
  RankedLists best;
  Ranked* named;   // (nq, named)
  Ranked* chosen;  // (nq, k)
  Ranked* exact;   // (nq, k)
  float* exact_scores;
};

/// What a search's filter keeps, on the device; null: all.
struct FilterView {
  const uint64_t* allowed = nullptr;  // a word for each block
  const ListFilter* lists = nullptr;  // (lists)
};

class ListGroupSearch {
 public:
  ListGroupSearch(const DeviceIndex& index, const SearchRequest& request, const FilterView& filter,
                  Workspace& workspace)
      : index_(index),
        request_(request),
        code_(index.code()),
        lists_(index.lists()->view()),
        filter_(filter),
        stream_(static_cast<cudaStream_t>(request.stream)),
        workspace_(workspace) {}

  GroupPlan plan(int64_t nq) const {
    GroupPlan plan;
    plan.nq = nq;
    plan.k = request_.k;
    plan.nprobe = request_.nprobe;
    const int64_t k = std::min(request_.k, code_.rows);
    const int64_t wanted = std::max(kListRows, kListRowsPerResult * k);
    plan.list_rows = static_cast<uint32_t>(std::min(wanted, code_.rows));
    const int64_t mean = index_.lists()->mean();
    if (is_bounded()) {
      // Without a threshold every row would be decoded.
      const int64_t rounds =
          (std::max(kLeastNamed, kNamedPerResult * k) + kSeedNames - 1) / kSeedNames;
      plan.named = rounds * kSeedNames;
      const int64_t seeds = (plan.named * kRowsPerNamed + mean - 1) / mean;
      plan.seeds = std::min({seeds, plan.nprobe, int64_t{kMostSeeds}});
    } else {
      const int64_t seeds = (std::max(kSeedRows, kSeedRowsPerResult * k) + mean - 1) / mean;
      if (seeds < plan.nprobe) plan.seeds = seeds;
    }
    const int64_t queries = nq * plan.nprobe / lists_.count;  // of a list
    const bool few_queries = queries < kTileQueriesPerList ||
                             queries * (kSketchQueryRows + mean / kSketchQueryShare) < mean;
    const bool by_sketches = is_bounded() && few_queries;
    plan.scan = plan_list_scan(code_, *index_.lists(), nq, plan.nprobe, by_sketches,
                               index_.multiprocessors());
    return plan;
  }

  size_t device_bytes(const GroupPlan& plan) { return carve_parts(plan, nullptr); }
  size_t pinned_bytes(const GroupPlan& plan) const {
    return std::max(GroupInput::bytes(plan, code_.dim), GroupOutput::bytes(plan));
  }

  /// `reserved`: bytes of the workspace before the parts that are carved.
  void run(const GroupPlan& plan, int64_t first_query, size_t reserved) {
    plan_ = plan;
    carve_parts(plan, workspace_.device.as<uint8_t>() + reserved);
    upload(first_query);
    find_lists();
    prepare_items(code_, lists_, memory_.probes,
                  {input_.rotated, input_.terms, request_.exactness, is_bounded(), filter_.lists,
                   input_.ranks_few},
                  memory_.items, stream_);
    const auto nq = static_cast<int>(plan_.nq);
    if (plan_.seeds > 0) scan_seeds();
    while (true) {
      scan(false);
      select_best(memory_.best, nq, plan_.k, memory_.chosen, memory_.thresholds, stream_);
      if (finish(first_query)) return;
      // Of rows that tiles list by score alone, fewer than k may be left, which raise no threshold.
      if (is_bounded()) plan_.scan.by_sketches = true;
    }
  }

 private:
  bool is_bounded() const { return request_.bounded != 0; }
  bool is_resident() const { return request_.resident.queries != nullptr; }

  size_t carve_parts(const GroupPlan& plan, void* base) {
    Carver carver(base);
    const auto nq = static_cast<size_t>(plan.nq);
    const auto lists = static_cast<size_t>(lists_.count);
    const size_t items = nq * static_cast<size_t>(plan.nprobe);
    const size_t results = nq * static_cast<size_t>(plan.k);
    memory_.input = carver.take<uint8_t>(GroupInput::bytes(plan, code_.dim));
    memory_.output = carver.take<uint8_t>(GroupOutput::bytes(plan));
    memory_.coarse = carver.take<Ranked>(nq * lists);
    memory_.probes = {static_cast<int32_t>(plan.nq), static_cast<int32_t>(plan.nprobe),
                      carver.take<Ranked>(items), carver.take<Ranked>(nq),
                      carver.take<uint32_t>(items)};
    memory_.items = {plan.scan.group_items,
                     plan.scan.group_rows,
                     carver.take<uint32_t>(lists),
                     carver.take<uint32_t>(lists),
                     carver.take<uint32_t>(lists),
                     carver.take<ItemGroup>(static_cast<size_t>(plan.scan.most_groups)),
                     carver.take<ItemTotals>(1),
                     carver.take<uint32_t>(1),
                     carver.take<int32_t>(items),
                     carver.take<QueryConstants>(items),
                     carver.take<int8_t>(items * static_cast<size_t>(code_.padded_dim()))};
    memory_.thresholds = carver.take<Ranked>(nq);
    memory_.best.entries = carver.take<Ranked>(nq * plan.list_rows);
    memory_.best.capacity = plan.list_rows;
    memory_.named = carver.take<Ranked>(nq * static_cast<size_t>(plan.named));
    memory_.chosen = carver.take<Ranked>(results);
    memory_.exact = carver.take<Ranked>(results);
    memory_.exact_scores = carver.take<float>(results);
    if (base != nullptr) {
      input_ = GroupInput(memory_.input, plan, code_.dim);
      output_ = GroupOutput(memory_.output, plan);
      memory_.best.counts = output_.counts;
    }
    if (is_resident()) index_.queries()->take_scratch(&carver, nq, &memory_.queries);
    return carver.used();
  }

  void upload(int64_t first_query) {
    POLAR_CUDA_CHECK(cudaMemsetAsync(memory_.thresholds, 0,
                                     static_cast<size_t>(plan_.nq) * sizeof(Ranked), stream_));
    if (is_resident()) {
      prepare(first_query);
    } else {
      copy_prepared(first_query);
    }
  }
  void prepare(int64_t first_query) {
    RotatedQueries& queries = memory_.queries;
    queries.n = plan_.nq;
    queries.given = request_.resident.queries + first_query * code_.dim;
    queries.normalizes = request_.resident.normalizes;
    queries.taken = input_.queries;
    queries.rotated = input_.rotated;
    queries.terms = input_.terms;
    queries.refused = output_.counts + plan_.nq;
    POLAR_CUDA_CHECK(cudaMemsetAsync(queries.refused, 0, sizeof(uint32_t), stream_));
    index_.queries()->rotate(queries, stream_);
  }
  /// Through pinned memory, so that the stream copies.
  void copy_prepared(int64_t first_query) {
    const GroupInput staged(workspace_.pinned.as<uint8_t>(), plan_, code_.dim);
    const auto first = static_cast<size_t>(first_query);
    const auto dim = static_cast<size_t>(code_.dim);
    const auto numbers = static_cast<size_t>(plan_.nq) * dim;
    std::copy_n(request_.terms + first, plan_.nq, staged.terms);
    std::copy_n(request_.queries + first * dim, numbers, staged.queries);
    std::copy_n(request_.rotated + first * dim, numbers, staged.rotated);
    if (filter_.lists != nullptr)
      std::copy_n(request_.ranks_few + first, plan_.nq, staged.ranks_few);
    POLAR_CUDA_CHECK(cudaMemcpyAsync(memory_.input, staged.terms,
                                     GroupInput::bytes(plan_, code_.dim), cudaMemcpyHostToDevice,
                                     stream_));
  }

  /// Finds the probed lists of each query and the seeds among them, and orders the items.
  void find_lists() {
    const ProbesView& probes = memory_.probes;
    coarse_scores(lists_, code_.dim, probes.nq, input_.queries, memory_.coarse, stream_);
    if (filter_.lists != nullptr)
      drop_filtered_lists(filter_.lists, lists_.count, probes.nq, memory_.coarse, stream_);
    const RankedLists all = {memory_.coarse, nullptr, static_cast<uint32_t>(lists_.count)};
    select_best(all, probes.nq, plan_.nprobe, probes.lists, nullptr, stream_);
    // Lists count that are on other devices.
    if (filter_.lists != nullptr)
      leave_out_lists(filter_.lists, request_.wanted_rows, probes, stream_);
    drop_empty_lists(lists_, probes, stream_);
    POLAR_CUDA_CHECK(cudaMemsetAsync(probes.seed_reach, 0,
                                     static_cast<size_t>(plan_.nq) * sizeof(Ranked), stream_));
    // Where it stays 0 all lists are seeds.
    if (plan_.seeds > 0 && plan_.seeds < plan_.nprobe) {
      const RankedLists probed = {probes.lists, nullptr, static_cast<uint32_t>(plan_.nprobe)};
      select_best(probed, probes.nq, plan_.seeds, nullptr, probes.seed_reach, stream_);
    }
    count_items(lists_, probes, memory_.items, stream_);
    group_items(lists_, memory_.items, stream_);
  }

  ListScanTask task() const {
    return {memory_.items, filter_.allowed, memory_.thresholds, memory_.best};
  }
  void scan(bool only_seeds) {
    POLAR_CUDA_CHECK(cudaMemsetAsync(memory_.best.counts, 0,
                                     static_cast<size_t>(plan_.nq) * sizeof(uint32_t), stream_));
    if (plan_.scan.by_sketches) {
      scan_by_sketches(code_, lists_, task(), plan_.scan, stream_);
    } else {
      scan_by_tiles(code_, lists_, task(), only_seeds, plan_.scan, stream_);
      if (is_bounded()) bound_ranks(code_, lists_, memory_.probes, task(), stream_);
    }
  }

  /// Finds the first thresholds.
  void scan_seeds() {
    const auto nq = static_cast<int>(plan_.nq);
    if (!is_bounded()) {
      scan(true);
      select_best(memory_.best, nq, plan_.k, nullptr, memory_.thresholds, stream_);
      return;
    }
    const RankedLists named = {memory_.named, nullptr, static_cast<uint32_t>(plan_.named)};
    rank_seeds(code_, lists_, memory_.probes, task(), named, stream_);
    select_best(named, nq, plan_.k, nullptr, memory_.thresholds, stream_);
  }

  /// Copies results; returns whether every list was long enough.
  bool finish(int64_t first_query) {
    QueryView queries = {};
    queries.nq = memory_.probes.nq;
    queries.rotated = input_.rotated;
    final_scores(code_, queries, lists_, input_.terms, memory_.chosen, plan_.k, memory_.exact,
                 memory_.exact_scores, output_.scores, output_.rows, output_.similarity, stream_);
    const GroupOutput fetched(workspace_.pinned.as<uint8_t>(), plan_);
    POLAR_CUDA_CHECK(cudaMemcpyAsync(fetched.rows, memory_.output, GroupOutput::bytes(plan_),
                                     cudaMemcpyDeviceToHost, stream_));
    POLAR_CUDA_CHECK(cudaStreamSynchronize(stream_));
    if (is_resident() && fetched.counts[plan_.nq] != 0) *request_.resident.refused = 1;
    const uint32_t most = *std::max_element(fetched.counts, fetched.counts + plan_.nq);
    if (most > plan_.list_rows) return false;
    const auto first = static_cast<size_t>(first_query * plan_.k);
    const auto results = static_cast<size_t>(plan_.nq * plan_.k);
    std::copy_n(fetched.rows, results, request_.rows + first);
    std::copy_n(fetched.scores, results, request_.scores + first);
    if (request_.similarity != nullptr)
      std::copy_n(fetched.similarity, results, request_.similarity + first);
    return true;
  }

  const DeviceIndex& index_;
  const SearchRequest& request_;
  const CodeView& code_;
  const ListsView& lists_;
  FilterView filter_;
  cudaStream_t stream_;
  Workspace& workspace_;
  GroupPlan plan_;
  GroupMemory memory_ = {};
  GroupInput input_ = {};
  GroupOutput output_ = {};
};

/// What a filter keeps: on the device, or copied to the beginning of a workspace.
class FilterUpload {
 public:
  FilterUpload(const DeviceIndex& index, const SearchRequest& request) : request_(request) {
    if (request.kept_bits != nullptr) return;
    if (request.allowed != nullptr) words_ = static_cast<size_t>(index.code().blocks());
    if (request.list_filter != nullptr) lists_ = static_cast<size_t>(index.lists()->view().count);
  }

  size_t bytes() const {
    Carver carver(nullptr);
    carver.take<uint64_t>(words_);
    carver.take<ListFilter>(lists_);
    return carver.used();
  }
  FilterView copy(const Workspace& workspace, cudaStream_t stream) const {
    if (request_.kept_bits != nullptr)
      return {request_.kept_bits->words(), request_.kept_bits->lists()};
    Carver carver(workspace.device.as<void>());
    auto* allowed = carver.take<uint64_t>(words_);
    auto* lists = carver.take<ListFilter>(lists_);
    FilterView view;
    if (words_ > 0) {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(allowed, request_.allowed, words_ * sizeof(uint64_t),
                                       cudaMemcpyHostToDevice, stream));
      view.allowed = allowed;
    }
    if (lists_ > 0) {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(lists, request_.list_filter, lists_ * sizeof(ListFilter),
                                       cudaMemcpyHostToDevice, stream));
      view.lists = lists;
    }
    return view;
  }

 private:
  const SearchRequest& request_;
  size_t words_ = 0;
  size_t lists_ = 0;
};

}  // namespace

void search_lists(const DeviceIndex& index, const SearchRequest& request) {
  if (request.nq == 0) return;
  if (index.code().rows == 0) return write_no_results(index, request);
  const CurrentDevice current(index.device());
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const WorkspaceLease lease(index.workspaces(), stream);
  Workspace& workspace = *lease;

  const FilterUpload filter(index, request);
  ListGroupSearch sizes(index, request, {}, workspace);
  int64_t group = std::min(request.nq, kMaxGroupQueries);
  while (group > 1 && sizes.device_bytes(sizes.plan(group)) > kGroupBytes) group = (group + 1) / 2;
  const GroupPlan full = sizes.plan(group);
  workspace.device.need(filter.bytes() + sizes.device_bytes(full));
  workspace.pinned.need(sizes.pinned_bytes(full));
  ListGroupSearch search(index, request, filter.copy(workspace, stream), workspace);
  for (int64_t first = 0; first < request.nq; first += group)
    search.run(search.plan(std::min(group, request.nq - first)), first, filter.bytes());
}

}  // namespace polarquant::cuda
