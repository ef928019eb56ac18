// SPDX-License-Identifier: MIT
#include "src/scan/search/kept_list_search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/kept_vectors.h"
#include "src/scan/search/list_row_scorer.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_groups.h"

namespace polarquant {
namespace {

/// Rows that are kept, and how many of their vectors are read, if there are any.
struct KeptToScore {
  const KeptListRows& rows;
  const KeptVectors* vectors;
  int64_t most_vectors;
};

/// Scores rows that are kept: all, or those that vectors leave.
class KeptListSearch final : public QueryGroups {
 public:
  KeptListSearch(const InvertedFile& file, const KeptToScore& kept, const SearchRequest& request,
                 const SearchResult& result)
      : QueryGroups(file.codec, request, result, thread_count(request.threads, request.nq),
                    static_cast<double>(request.nq)),
        file_(file),
        vectors_(kept.vectors),
        most_vectors_(kept.most_vectors),
        workers_(static_cast<size_t>(threads_)) {
    if (vectors_ != nullptr) return;
    for (const int32_t list : kept.rows.lists())
      kept.rows.for_each(list, [this](int64_t row) { all_.push_back(row); });
  }

  void run() { QueryGroups::run(kListGroupQueries); }

 private:
  struct Worker {
    explicit Worker(const InvertedFile& file) : scorer(file) {}

    ListRowScorer scorer;
    KeptVectors::Memory memory;
    std::vector<int64_t> candidates;
  };

  void search_group() override {
    prepare_queries();
    begin_parts(1, k());
    parallel_for(nq_, thread_count(threads_, nq_), [&](int64_t query, int thread) {
      auto& worker = workers_[static_cast<size_t>(thread)];
      if (worker == nullptr) worker = std::make_unique<Worker>(file_);
      const PreparedQuery& prepared = prepared_[static_cast<size_t>(query)];
      if (vectors_ != nullptr)
        vectors_->find_candidates(prepared, k(), most_vectors_, &worker->memory,
                                  &worker->candidates);
      for (const int64_t row : vectors_ != nullptr ? worker->candidates : all_) {
        const float score = worker->scorer.score(prepared, row);
        best(0)[query].push({key_of_score(score, codec_.higher_is_nearer()), row});
      }
      progress_.advance(1);
    });
  }

  void finish(int64_t /*query*/, int /*thread*/, std::vector<Neighbor>* found) override {
    for (Neighbor& neighbor : *found)
      neighbor.id = file_.lists.ids(list_of_offset(neighbor.id))[row_of_offset(neighbor.id)];
  }

  const InvertedFile& file_;
  const KeptVectors* vectors_;
  int64_t most_vectors_;
  std::vector<int64_t> all_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// The rows of all lists that a request's filter keeps.
RowFilter ask_all_lists(const InvertedFile& file, const SearchRequest& request) {
  return request.filter.found(request.rows_state, [&] {
    return RowFilter(std::make_shared<KeptListRows>(file, request.filter));
  });
}

/// Searches a file of which it is known what rows are kept, where scoring these is fast.
class KeptRowsScoring {
 public:
  KeptRowsScoring(const InvertedFile& file, const KeptListRows& kept, const CopyKeptRows& copy_kept)
      : file_(file), kept_(kept), copy_kept_(copy_kept) {}

  /// False where lists are to be searched.
  bool search(const KeptRowsPlan& plan, const SearchRequest& request, const SearchResult& result) {
    std::shared_ptr<const KeptVectors> vectors;
    if (plan.rounded) {
      // A prepared filter is for many more.
      const int64_t queries = request.filter.is_prepared()
                                  ? kQueriesBeforeCopy
                                  : std::max(kQueriesBeforeCopy, plan.queries);
      vectors = kept_.vectors().get(
          request.nq, queries, [&] { return std::make_unique<KeptVectors>(readable(), kept_); });
    }
    if (!plan.scored && vectors == nullptr) return false;
    KeptListSearch(readable(), {kept_, vectors.get(), plan.vectors}, request, result).run();
    return true;
  }

 private:
  /// The file with codes of the rows that are kept.
  InvertedFile readable() {
    if (!copy_kept_) return file_;
    copies_ = kept_.copies().get(1, 0, [&] { return copy_kept_(kept_); });
    return {file_.codec, file_.scan_codec, *copies_, file_.centres, file_.list_offsets};
  }

  const InvertedFile& file_;
  const KeptListRows& kept_;
  const CopyKeptRows& copy_kept_;
  std::shared_ptr<const CodeLists> copies_;
};

}  // namespace

KeptRowsSearch search_kept_rows(const InvertedFile& file, int64_t rows, SearchRequest* request,
                                const SearchResult& result, const CopyKeptRows& copy_kept) {
  const auto plan_for = [&, nprobe = request->options.nprobe](int64_t count, bool are_known) {
    return plan_kept_rows({nprobe, file.lists.count(), rows, count, are_known});
  };
  const bool calls_back = request->filter.calls_back();
  RowFilter filter;
  KeptRowsPlan plan;
  if (asks_for_all_rows(*request)) {
    filter = ask_all_lists(file, *request);
  } else {
    const int64_t count = estimate_kept(file, rows, request->filter);
    plan = plan_for(count, false);
    // For one search, too, that takes less than a search of most lists.
    const bool are_found = !file.list_offsets.empty() && finds_for_one_search(count, rows);
    if (!calls_back && (are_found || plan.nprobe > file.lists.count() / 2))
      filter = ask_all_lists(file, *request);
  }
  const auto* kept = static_cast<const KeptListRows*>(filter.rule());
  if (kept != nullptr) plan = plan_for(kept->count(), true);
  const bool may_leave_out = !request->goal.is_range && request->options.exactness < kScoreEveryRow;
  if (kept != nullptr && may_leave_out &&
      KeptRowsScoring(file, *kept, copy_kept).search(plan, *request, result))
    return {true, 0};
  if (kept != nullptr) request->filter = filter;
  if (!request->goal.is_range) request->options.nprobe = plan.nprobe;
  return {false, std::max(plan.wanted, request->goal.k)};
}

}  // namespace polarquant
