// SPDX-License-Identifier: MIT
// A search of an index on a device. Every search has thresholds: a query's is the rank of the k-th
// best of some rows, 0 at first; rows below it cannot be among the k best. A sample of rows raises
// it, then all rows are scanned and those that reach it are listed; the k best of these are the
// answer. Where a list was too short, the rows in it have raised the threshold, and the scan is
// repeated until all fit, each time with far fewer rows.
//
// Bounded searches of a few queries run in stages (docs/dev/bounds.md): sketches of all rows, then
// the rows whose bound reaches. Others score every row in tiles; bounded ones then rank the rows
// that reach by the least of score and bounds.
#include "cuda/search.h"

#include <algorithm>
#include <cstring>

#include "cuda/candidate_scores.h"
#include "cuda/device_bits.h"
#include "cuda/final_scores.h"
#include "cuda/query_values.h"
#include "cuda/resident_bits.h"
#include "cuda/result_copies.h"
#include "cuda/select_best.h"
#include "cuda/sketch_scan.h"
#include "cuda/tile_scan.h"

namespace polarquant::cuda {
namespace {

/// Bounded searches of up to so many queries run in stages.
constexpr int64_t kStagedQueries = 4;
/// The capacity of lists, and the capacity for each wanted row: a sample leaves about half as many.
constexpr int64_t kListRows = 8192;
constexpr int64_t kListRowsPerResult = 128;
/// Blocks of a sample: at least so many, four for each wanted row, and one of so many.
constexpr int64_t kSampleBlocks = 2048;
constexpr int64_t kSampleBlocksPerResult = 4;
constexpr int64_t kSampleEvery = 64;
/// One block of so many has its sketches scanned for a first threshold.
constexpr int64_t kSketchSampleEvery = 16;
/// Lists of candidates of the sketches hold one of so many rows. For one of so many the bound may
/// reach the threshold after the scan: these are ranked one by one, at an eighth of the rate at
/// which tiles score all rows.
constexpr int64_t kCandidateEvery = 4;
constexpr int64_t kRankedEvery = 16;
constexpr int64_t kLeastCandidates = 65536;
/// The most memory for the lists of a group of queries.
constexpr size_t kGroupListBytes = size_t{1} << 30;
constexpr int64_t kMaxGroupQueries = 4096;

/// How a group of queries is searched.
struct GroupPlan {
  bool staged = false;
  bool bounded = false;
  bool reranks = false;  // tiles list rows that may reach, which are ranked afterwards
  int64_t nq = 0;
  int64_t k = 0;
  uint32_t list_rows = 0;       // of `matches` and `best`
  uint32_t candidate_rows = 0;  // in stages
  uint32_t ranked_rows = 0;     // in stages: no more are ranked one by one
  uint32_t sampled_groups = 0;  // tiles: best rows of a sample, for a query; 0: no sample
  int64_t sample_stride = 1;
  uint32_t candidates = 0;  // those of them that are ranked with their bounds
  TilePlan tile;
};

/// Memory of a group, carved from a workspace.
struct GroupMemory {
  QueryConstants* constants;
  int8_t* raw_values;
  int8_t* values;
  float* rotated;
  int8_t* tile_values;  // for trained codes, as are these
  TileTerms* tile_terms;
  RotatedQueries queries;  // where the device prepares them
  Ranked* thresholds;
  /// (3, nq): of `first`, of `best`, and what reaches thresholds of `first`; and one more, whether
  /// a query is refused.
  uint32_t* counts;
  RankedLists first;  // candidates, or matches that get bounds
  RankedLists best;
  Ranked* promising;  // (nq, warps of the sketch scan) or (nq, sampled groups)
  Ranked* chosen;     // (nq, k)
  Ranked* exact;      // (nq, k)
  float* exact_scores;
  GroupResults results;
};

class GroupSearch {
 public:
  /// `allowed`: a word for each block in the device's memory, or null.
  GroupSearch(const DeviceIndex& index, const SearchRequest& request, const uint64_t* allowed,
              Workspace& workspace)
      : index_(index),
        request_(request),
        code_(index.code()),
        mask_{allowed, code_.rows},
        stream_(static_cast<cudaStream_t>(request.stream)),
        copies_(request, stream_),
        workspace_(workspace) {}

  GroupPlan plan(int64_t nq) const {
    GroupPlan plan;
    plan.nq = nq;
    plan.k = std::min(request_.k, code_.rows);
    plan.bounded = request_.bounded != 0;
    plan.reranks = plan.bounded || code_.is_trained();
    plan.staged = plan.bounded && nq <= kStagedQueries;
    plan.list_rows = static_cast<uint32_t>(
        std::min(std::max(kListRows, kListRowsPerResult * plan.k), code_.rows));
    plan_tiles(&plan);
    if (plan.staged) {
      const auto share_of_rows = [&](int64_t every) {
        return static_cast<uint32_t>(
            std::min(std::max(kLeastCandidates, code_.rows / every), code_.rows));
      };
      plan.candidate_rows = share_of_rows(kCandidateEvery);
      plan.ranked_rows = share_of_rows(kRankedEvery);
    }
    return plan;
  }

  size_t list_bytes(const GroupPlan& plan) const {
    return sizeof(Ranked) *
           (size_t{plan.list_rows} * (plan.reranks ? 2 : 1) + promising_rows(plan));
  }

  void run(const GroupPlan& plan, int64_t first_query, size_t reserved) {
    plan_ = plan;
    carve(reserved);
    if (is_resident()) {
      prepare(first_query);
    } else {
      upload(first_query);
    }
    POLAR_CUDA_CHECK(cudaMemsetAsync(memory_.thresholds, 0,
                                     static_cast<size_t>(plan_.nq) * sizeof(Ranked), stream_));
    if (plan_.staged) {
      if (!search_by_stages(first_query)) search_by_tiles(first_query);
    } else {
      search_by_tiles(first_query);
    }
  }

  /// Bytes of a workspace: on the device, and on the host.
  size_t device_bytes(const GroupPlan& plan) { return carve_parts(plan, nullptr); }
  size_t pinned_bytes(const GroupPlan& plan) const {
    return input_bytes(plan) + output_bytes(plan);
  }

 private:
  bool is_resident() const { return request_.resident.queries != nullptr; }
  void plan_tiles(GroupPlan* plan) const {
    plan->tile = plan_tile_scan(code_, static_cast<int>(plan->nq), index_.shared_bytes());
    const int64_t blocks = code_.blocks();
    if (plan->list_rows >= code_.rows || plan->tile.queries == 0) return;
    int64_t wanted =
        std::max({kSampleBlocks, kSampleBlocksPerResult * plan->k, blocks / kSampleEvery});
    // Else a filter would have fewer rows in the sample, and more of all reach the threshold.
    if (request_.kept_share > 0)
      wanted =
          std::min(blocks, static_cast<int64_t>(wanted / static_cast<double>(request_.kept_share)));
    plan->sample_stride = std::max<int64_t>(1, blocks / wanted);
    plan->sampled_groups =
        static_cast<uint32_t>(sample_range(*plan).blocks * (kBlockRows / kSampleRows));
    plan->candidates = static_cast<uint32_t>(std::min<int64_t>(2 * plan->k, plan->sampled_groups));
  }

  BlockRange sample_range(const GroupPlan& plan) const {
    return {(code_.blocks() + plan.sample_stride - 1) / plan.sample_stride, plan.sample_stride};
  }
  size_t sketch_warps() const {
    return static_cast<size_t>(sketch_scan_warps(index_.multiprocessors()));
  }
  size_t promising_rows(const GroupPlan& plan) const {
    return std::max(plan.staged ? sketch_warps() : 0,
                    size_t{plan.sampled_groups} + plan.candidates);
  }

  size_t carve_parts(const GroupPlan& plan, void* base) {
    Carver carver(base);
    const auto nq = static_cast<size_t>(plan.nq);
    const auto k = static_cast<size_t>(request_.k);
    const auto padded_dim = static_cast<size_t>(code_.padded_dim());
    memory_.constants = carver.take<QueryConstants>(nq);
    memory_.raw_values = carver.take<int8_t>(is_resident() ? 0 : nq * padded_dim);
    memory_.values = carver.take<int8_t>(nq * padded_dim);
    memory_.rotated = carver.take<float>(nq * static_cast<size_t>(code_.dim));
    const size_t trained = code_.is_trained() ? nq : 0;
    memory_.tile_values = carver.take<int8_t>(trained * padded_dim);
    memory_.tile_terms = carver.take<TileTerms>(trained);
    memory_.thresholds = carver.take<Ranked>(nq);
    memory_.counts = carver.take<uint32_t>(3 * nq + 1);
    if (is_resident()) carve_queries(plan, &carver);
    const uint32_t first_rows =
        plan.staged ? std::max(plan.candidate_rows, plan.list_rows) : plan.list_rows;
    memory_.first = {carver.take<Ranked>(plan.reranks ? nq * first_rows : 0), memory_.counts,
                     first_rows};
    memory_.best = {carver.take<Ranked>(nq * plan.list_rows), memory_.counts + nq, plan.list_rows};
    memory_.promising = carver.take<Ranked>(nq * promising_rows(plan));
    memory_.chosen = carver.take<Ranked>(nq * k);
    memory_.exact = carver.take<Ranked>(nq * k);
    memory_.exact_scores = carver.take<float>(nq * k);
    memory_.results = copies_.take(&carver, plan.nq);
    return carver.used();
  }
  void carve_queries(const GroupPlan& plan, Carver* carver) {
    const auto nq = static_cast<size_t>(plan.nq);
    RotatedQueries& queries = memory_.queries;
    queries.n = plan.nq;
    queries.normalizes = request_.resident.normalizes;
    queries.rotated = memory_.rotated;
    queries.terms = carver->take<QueryTerms>(nq);
    queries.refused = memory_.counts + 3 * nq;
    index_.queries()->take_scratch(carver, nq, &queries);
  }
  void carve(size_t reserved) {
    carve_parts(plan_, workspace_.device.as<uint8_t>() + reserved);
    queries_ = {static_cast<int32_t>(plan_.nq),
                memory_.constants,
                memory_.values,
                memory_.rotated,
                memory_.tile_values,
                memory_.tile_terms};
  }

  size_t input_bytes(const GroupPlan& plan) const {
    const auto padded_dim = static_cast<size_t>(code_.padded_dim());
    const size_t query =
        sizeof(QueryConstants) + padded_dim + static_cast<size_t>(code_.dim) * sizeof(float);
    return static_cast<size_t>(plan.nq) * query;
  }
  size_t count_bytes(const GroupPlan& plan) const {
    return (3 * static_cast<size_t>(plan.nq) + 1) * sizeof(uint32_t);
  }
  size_t output_bytes(const GroupPlan& plan) const {
    return copies_.pinned_bytes(plan.nq) + count_bytes(plan);
  }

  /// Through pinned memory, so that the stream copies.
  template <typename T>
  void upload_part(T* to, const T* from, size_t count, size_t* used) {
    uint8_t* staged = workspace_.pinned.as<uint8_t>() + *used;
    std::memcpy(staged, from, count * sizeof(T));
    POLAR_CUDA_CHECK(
        cudaMemcpyAsync(to, staged, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
    *used += count * sizeof(T);
  }

  void upload(int64_t first_query) {
    const auto first = static_cast<size_t>(first_query);
    const auto nq = static_cast<size_t>(plan_.nq);
    const auto padded_dim = static_cast<size_t>(code_.padded_dim());
    const auto dim = static_cast<size_t>(code_.dim);
    size_t used = 0;
    upload_part(memory_.constants, request_.constants + first, nq, &used);
    upload_part(memory_.rotated, request_.rotated + first * dim, nq * dim, &used);
    upload_part(memory_.raw_values, request_.values + first * padded_dim, nq * padded_dim, &used);
    arrange_values(code_, static_cast<int>(nq), memory_.raw_values, memory_.values, stream_);
  }
  /// Instead of `upload`, of queries that are there.
  void prepare(int64_t first_query) {
    RotatedQueries& queries = memory_.queries;
    queries.given = request_.resident.queries + first_query * code_.dim;
    POLAR_CUDA_CHECK(cudaMemsetAsync(queries.refused, 0, sizeof(uint32_t), stream_));
    index_.queries()->rotate(queries, stream_);
    index_.queries()->make_values(code_, queries, {request_.exactness, plan_.bounded},
                                  memory_.constants, memory_.values, stream_);
  }

  void clear_counts() {
    POLAR_CUDA_CHECK(cudaMemsetAsync(
        memory_.counts, 0, 3 * static_cast<size_t>(plan_.nq) * sizeof(uint32_t), stream_));
  }
  void rank(const RankedLists& lists, const RankedLists& best, const CandidateLimit& limit = {}) {
    score_candidates(code_, queries_, mask_, plan_.bounded, lists, limit, memory_.thresholds, best,
                     index_.multiprocessors(), stream_);
  }
  /// Ranks listed rows and raises thresholds by them.
  void rank_promising(uint32_t rows, Ranked* entries) {
    const RankedLists lists = {entries, nullptr, rows};
    rank(lists, {});
    select_best(lists, queries_.nq, plan_.k, nullptr, memory_.thresholds, stream_);
  }
  void scan_sketches(BlockRange range, const RankedLists& candidates) {
    for (int first = 0; first < queries_.nq; first += kSketchQueries) {
      sketch_scan(code_, queries_, first, std::min(kSketchQueries, queries_.nq - first), mask_,
                  range, memory_.thresholds, candidates, memory_.promising,
                  index_.multiprocessors(), stream_);
    }
    rank_promising(static_cast<uint32_t>(sketch_warps()), memory_.promising);
  }
  void scan_tiles(BlockRange range, const RankedLists& matches, Ranked* maxima) {
    tile_scan(code_, queries_, mask_, range, plan_.tile, memory_.thresholds, matches, maxima,
              index_.multiprocessors(), stream_);
  }

  /// Copies results and counts; returns whether every list was long enough and every candidate was
  /// ranked.
  bool finish(int64_t first_query) {
    const auto nq = static_cast<size_t>(plan_.nq);
    select_best(memory_.best, queries_.nq, request_.k, memory_.chosen, memory_.thresholds, stream_);
    const GroupResults to = copies_.places(memory_.results, first_query);
    final_scores(code_, queries_, {}, nullptr, memory_.chosen, request_.k, memory_.exact,
                 memory_.exact_scores, to.scores, to.rows, to.similarity, stream_);
    uint8_t* out = workspace_.pinned.as<uint8_t>() + (input_bytes(plan_) + 7) / 8 * 8;
    auto* counts = reinterpret_cast<uint32_t*>(out + copies_.pinned_bytes(plan_.nq));
    copies_.begin(to, first_query, plan_.nq, out);
    POLAR_CUDA_CHECK(cudaMemcpyAsync(counts, memory_.counts, count_bytes(plan_),
                                     cudaMemcpyDeviceToHost, stream_));
    POLAR_CUDA_CHECK(cudaStreamSynchronize(stream_));
    if (is_resident() && counts[3 * nq] != 0) *request_.resident.refused = 1;
    candidates_fit_ = true;
    candidates_will_fit_ = true;
    bool all_fit = true;
    const double capacity = memory_.first.capacity;
    for (size_t q = 0; q < nq; ++q) {
      all_fit = all_fit && counts[nq + q] <= memory_.best.capacity;
      // No larger share of the rows that did not fit reaches the threshold.
      const double reaching = counts[2 * nq + q] * std::max(1.0, counts[q] / capacity);
      const bool few_reach = !plan_.staged || reaching <= plan_.ranked_rows;
      candidates_will_fit_ = candidates_will_fit_ && few_reach;
      candidates_fit_ = candidates_fit_ && few_reach && counts[q] <= capacity;
    }
    if (!all_fit || !candidates_fit_) return false;
    copies_.end(first_query, plan_.nq, out);
    return true;
  }

  /// False where too many rows are candidates; thresholds are then those found so far.
  bool search_by_stages(int64_t first_query) {
    const int64_t blocks = code_.blocks();
    const BlockRange all = {blocks, 1};
    if (code_.rows > plan_.candidate_rows) {
      // Warps must name several times k rows.
      const int64_t stride = std::clamp<int64_t>(blocks / (2 * plan_.k), 1, kSketchSampleEvery);
      scan_sketches({blocks / stride, stride}, {});
    }
    uint32_t* reaching = memory_.counts + 2 * plan_.nq;
    for (bool again = false;; again = true) {
      clear_counts();
      scan_sketches(all, memory_.first);
      count_reaching(memory_.first, queries_.nq, memory_.thresholds, reaching, stream_);
      rank(memory_.first, memory_.best, {reaching, plan_.ranked_rows});
      if (finish(first_query)) return true;
      // A sample may have had few of a query's best rows, where such rows are few. This scan has
      // read them all, and raised the threshold.
      if (!candidates_fit_ && (again || !candidates_will_fit_)) return false;
    }
  }

  void search_by_tiles(int64_t first_query) {
    if (code_.is_trained())
      make_tile_queries(code_, queries_.nq, memory_.constants, memory_.values, memory_.tile_values,
                        memory_.tile_terms, stream_);
    if (plan_.sampled_groups > 0) sample();
    const BlockRange all = {code_.blocks(), 1};
    const RankedLists& matches = plan_.reranks ? memory_.first : memory_.best;
    // Rows too long for tiles are ranked one by one. So are all where again and again more rows
    // reach the threshold by score than fit, since few of them may reach it by their bounds.
    bool one_by_one = plan_.tile.queries == 0;
    int overflows = 0;
    while (true) {
      one_by_one = one_by_one || overflows > 1;
      clear_counts();
      if (one_by_one) {
        rank({nullptr, nullptr, static_cast<uint32_t>(code_.rows)}, memory_.best);
      } else {
        scan_tiles(all, matches, nullptr);
        if (plan_.reranks) rank(matches, memory_.best);
      }
      if (finish(first_query)) return;
      if (!candidates_fit_) ++overflows;
    }
  }

  void sample() {
    scan_tiles(sample_range(plan_), {}, memory_.promising);
    const RankedLists maxima = {memory_.promising, nullptr, plan_.sampled_groups};
    if (!plan_.reranks) {
      select_best(maxima, queries_.nq, plan_.k, nullptr, memory_.thresholds, stream_);
      return;
    }
    // The best by score, ranked with their bounds.
    Ranked* candidates = memory_.promising + plan_.nq * size_t{plan_.sampled_groups};
    select_best(maxima, queries_.nq, plan_.candidates, candidates, nullptr, stream_);
    rank_promising(plan_.candidates, candidates);
  }

  const DeviceIndex& index_;
  const SearchRequest& request_;
  const CodeView& code_;
  RowMask mask_;
  cudaStream_t stream_;
  ResultCopies copies_;
  Workspace& workspace_;
  GroupPlan plan_;
  GroupMemory memory_ = {};
  QueryView queries_ = {};
  bool candidates_fit_ = true;
  bool candidates_will_fit_ = true;  // with the current thresholds
};

}  // namespace

void write_no_results(const DeviceIndex& index, const SearchRequest& request) {
  const auto count = static_cast<size_t>(request.nq * request.results);
  constexpr float kInfinity = __builtin_huge_valf();
  std::fill_n(request.scores, count, index.code().is_l2 != 0 ? kInfinity : -kInfinity);
  std::fill_n(request.rows, count, int64_t{-1});
  if (request.similarity != nullptr) std::fill_n(request.similarity, count, -kInfinity);
}

void search(const DeviceIndex& index, const SearchRequest& request) {
  if (request.nq == 0) return;
  if (index.code().rows == 0) return write_no_results(index, request);
  const CurrentDevice current(index.device());
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const WorkspaceLease lease(index.workspaces(), stream);
  Workspace& workspace = *lease;

  const bool has_resident_filter = request.resident_allowed.words != nullptr;
  const bool brings_filter = request.allowed != nullptr || has_resident_filter;
  const auto words = static_cast<size_t>(index.code().blocks());
  const size_t allowed_bytes = brings_filter ? (words * sizeof(uint64_t) + 255) / 256 * 256 : 0;
  // The largest group whose lists fit.
  GroupSearch sizes(index, request, nullptr, workspace);
  int64_t group = std::min(request.nq, kMaxGroupQueries);
  while (group > 1 &&
         static_cast<size_t>(group) * sizes.list_bytes(sizes.plan(group)) > kGroupListBytes)
    group = (group + 1) / 2;
  const GroupPlan full = sizes.plan(group);
  workspace.device.need(allowed_bytes + sizes.device_bytes(full));
  workspace.pinned.need(sizes.pinned_bytes(full) + sizeof(int64_t));
  const uint64_t* allowed = request.kept_bits != nullptr ? request.kept_bits->words() : nullptr;
  if (brings_filter) {
    auto* brought = workspace.device.as<uint64_t>();
    if (has_resident_filter) {
      copy_bits(request.resident_allowed, index.code().blocks(), brought, stream);
    } else {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(brought, request.allowed, words * sizeof(uint64_t),
                                       cudaMemcpyHostToDevice, stream));
    }
    allowed = brought;
  }
  GroupSearch search(index, request, allowed, workspace);
  for (int64_t first = 0; first < request.nq; first += group)
    search.run(search.plan(std::min(group, request.nq - first)), first, allowed_bytes);
}

}  // namespace polarquant::cuda
