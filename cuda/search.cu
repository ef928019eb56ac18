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
#include "cuda/search_fit.h"
#include "cuda/search_plan.h"
#include "cuda/select_best.h"
#include "cuda/sketch_scan.h"

namespace polarquant::cuda {
namespace {

/// One block of so many has its sketches scanned for a first threshold.
constexpr int64_t kSketchSampleEvery = 16;
/// The most memory for the lists of a group of queries.
constexpr size_t kGroupListBytes = size_t{1} << 30;
constexpr int64_t kMaxGroupQueries = 4096;

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
              const Workspace& workspace)
      : index_(index),
        request_(request),
        code_(index.code()),
        mask_{allowed, code_.rows},
        stream_(static_cast<cudaStream_t>(request.stream)),
        copies_(request, stream_),
        workspace_(workspace) {}

  GroupPlan plan(int64_t nq) const { return plan_group(index_, request_, nq); }

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
  bool is_prepared() const { return request_.is_prepared != 0; }
  bool is_resident() const { return is_prepared() || request_.resident.queries != nullptr; }
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

  ListLimits limits() const {
    return {memory_.first.capacity, memory_.best.capacity, plan_.ranked_rows, plan_.staged};
  }

  /// Copies results and counts; returns whether every list was long enough and every candidate was
  /// ranked. A prepared search notes that on the device, and ends.
  bool finish(int64_t first_query) {
    const auto nq = static_cast<size_t>(plan_.nq);
    select_best(memory_.best, queries_.nq, request_.k, memory_.chosen, memory_.thresholds, stream_);
    const GroupResults to = copies_.places(memory_.results, first_query);
    final_scores(code_, queries_, {}, nullptr, memory_.chosen, request_.k, memory_.exact,
                 memory_.exact_scores, to.scores, to.rows, to.similarity, stream_);
    if (is_prepared()) {
      copies_.begin(to, first_query, plan_.nq, nullptr);
      note_unfinished(limits(), memory_.counts, queries_.nq, request_.unfinished, stream_);
      return true;
    }
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
    for (size_t q = 0; q < nq; ++q) {
      const ListFit fit = fit_of(limits(), counts[q], counts[nq + q], counts[2 * nq + q]);
      all_fit = all_fit && fit.best;
      candidates_fit_ = candidates_fit_ && fit.candidates;
      candidates_will_fit_ = candidates_will_fit_ && fit.candidates_later;
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
    scan_tiles(plan_.sample, {}, memory_.promising);
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
  const Workspace& workspace_;
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

SearchGroups::SearchGroups(const DeviceIndex& index, const SearchRequest& request) {
  if (request.allowed != nullptr || request.resident_allowed.words != nullptr) {
    Carver carver(nullptr);
    carver.take<uint64_t>(static_cast<size_t>(index.code().blocks()));
    filter_bytes_ = carver.used();
  }
  const Workspace none;
  GroupSearch sizes(index, request, nullptr, none);
  // The largest group whose lists fit.
  queries_ = std::min(request.nq, kMaxGroupQueries);
  while (queries_ > 1 &&
         static_cast<size_t>(queries_) * sizes.list_bytes(sizes.plan(queries_)) > kGroupListBytes)
    queries_ = (queries_ + 1) / 2;
  const GroupPlan full = sizes.plan(queries_);
  device_bytes_ = filter_bytes_ + sizes.device_bytes(full);
  if (request.is_prepared == 0) pinned_bytes_ = sizes.pinned_bytes(full) + sizeof(int64_t);
}

void SearchGroups::take_memory(Workspace* workspace) const {
  workspace->device.need(device_bytes_);
  workspace->pinned.need(pinned_bytes_);
}

void SearchGroups::run(const DeviceIndex& index, const SearchRequest& request,
                       const Workspace& workspace) const {
  auto* stream = static_cast<cudaStream_t>(request.stream);
  const uint64_t* allowed = request.kept_bits != nullptr ? request.kept_bits->words() : nullptr;
  if (filter_bytes_ > 0) {
    const int64_t blocks = index.code().blocks();
    auto* brought = workspace.device.as<uint64_t>();
    if (request.resident_allowed.words != nullptr) {
      copy_bits(request.resident_allowed, blocks, brought, stream);
    } else {
      POLAR_CUDA_CHECK(cudaMemcpyAsync(brought, request.allowed,
                                       static_cast<size_t>(blocks) * sizeof(uint64_t),
                                       cudaMemcpyHostToDevice, stream));
    }
    allowed = brought;
  }
  GroupSearch search(index, request, allowed, workspace);
  for (int64_t first = 0; first < request.nq; first += queries_)
    search.run(search.plan(std::min(queries_, request.nq - first)), first, filter_bytes_);
}

void search(const DeviceIndex& index, const SearchRequest& request) {
  if (request.nq == 0) return;
  if (index.code().rows == 0) return write_no_results(index, request);
  const CurrentDevice current(index.device());
  const WorkspaceLease lease(index.workspaces(), static_cast<cudaStream_t>(request.stream));
  const SearchGroups groups(index, request);
  groups.take_memory(&*lease);
  groups.run(index, request, *lease);
}

}  // namespace polarquant::cuda
