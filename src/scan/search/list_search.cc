// SPDX-License-Identifier: MIT
// Where lists are probed by many queries of a batch, lists are tasks: each is read, and its rows
// are decoded, once for all its queries. Else queries are tasks of their own; few queries have
// their probes dealt out to several tasks, nearest lists first to each, which tell each other how
// good rows must be.
#include "src/scan/search/list_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/list_scan.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/shared_thresholds.h"
#include "src/scan/search/top_k.h"

namespace polarquant {
namespace {

/// The queries of a group that have each list, by list.
struct QueriesOfLists {
  std::vector<int64_t> ends;     // (lists + 1): of list i, numbers ends[i] … ends[i+1]−1
  std::vector<int32_t> numbers;  // of queries, rising within a list
};

class GroupSearch {
 public:
  GroupSearch(const InvertedFile& file, const ListProbes& probes, RowLabel label,
              const SearchRequest& request, const SearchResult& result)
      : file_(file),
        probes_(probes),
        label_(label),
        request_(request),
        results_(request, file.codec.higher_is_nearer(), result),
        kept_(file.scan_codec != nullptr ? file.scan_codec->rescored_rows(results_.k())
                                         : results_.k()),
        threads_(thread_count(request.threads, std::max(request.nq, request.nq * probes.nprobe))),
        scans_(static_cast<size_t>(threads_)),
        progress_(request.progress, static_cast<double>(request.nq)) {
    for (int64_t i = 0; i < request.nq * probes.nprobe; ++i) {
      require(probes.lists[i] >= -1 && probes.lists[i] < file.lists.count(),
              StatusCode::bad_argument, "probes: number {} of query {} is list {}; there are {}",
              i % probes.nprobe, i / probes.nprobe, probes.lists[i], file.lists.count());
    }
  }

  void run() {
    for (int64_t first = 0; first < request_.nq; first += kListGroupQueries)
      run(first, std::min(kListGroupQueries, request_.nq - first));
  }

 private:
  /// Queries first_query … first_query+nq−1.
  void run(int64_t first_query, int64_t nq) {
    first_query_ = first_query;
    prepare(nq, request_.queries + first_query * file_.codec.dim());
    plan_ =
        plan_lists(file_.scan_codec, ScanMachine::here(),
                   {nq, probes_.nprobe, file_.lists.count(), request_.options.exactness, threads_});
    if (plan_.by_lists) {
      search_by_lists(nq);
    } else {
      search_by_queries(nq);
    }
    results_.begin_group(nq);
    parallel_for(nq, thread_count(threads_, nq), [&](int64_t query, int thread) {
      std::vector<Neighbor> all = candidates_of(best_, static_cast<int>(parts_), nq, query);
      finish(query, &scan_of(thread), all);
      results_.write(first_query_, query, all);
    });
    results_.end_group();
  }

  void prepare(int64_t nq, const float* queries) {
    queries_.resize(static_cast<size_t>(nq));
    for_some_queries(nq, threads_, [&](int64_t first, int64_t count) {
      std::vector<PreparedQuery> some =
          file_.codec.prepare_queries(count, queries + first * file_.codec.dim());
      std::move(some.begin(), some.end(), queries_.begin() + first);
    });
  }

  ListScan& scan_of(int thread) {
    auto& scan = scans_[static_cast<size_t>(thread)];
    if (scan == nullptr) scan = std::make_unique<ListScan>(file_, plan_, request_);
    return *scan;
  }

  /// Calls body(probe, list) for the lists that a query of the group is to be held against.
  template <typename Body>
  void for_each_list(int64_t query, const Body& body) const {
    int64_t rows = 0;
    for (int64_t probe = 0; probe < probes_.nprobe; ++probe) {
      const int64_t list = probes_.list(first_query_ + query, probe);
      if (list < 0) continue;
      if (probes_.max_rows > 0 && rows >= probes_.max_rows) break;
      rows += file_.lists.rows(list);
      body(probe, list);
    }
  }

  void search_by_queries(int64_t nq) {
    parts_ = plan_.parts;
    best_.assign(static_cast<size_t>(parts_ * nq), results_.collector(kept_));
    limits_.clear();
    if (parts_ > 1 && !results_.is_range()) {
      for (int64_t query = 0; query < nq; ++query)
        limits_.push_back(std::make_unique<SharedLimits>(static_cast<int>(parts_), 1, kept_));
    }
    const int64_t tasks = nq * parts_;
    parallel_for(tasks, thread_count(threads_, tasks), [&](int64_t task, int thread) {
      search_part(static_cast<int32_t>(task / parts_), task % parts_, nq, &scan_of(thread));
    });
  }

  // Every parts-th of the query's lists, from the part-th on.
  void search_part(int32_t query, int64_t part, int64_t nq, ListScan* scan) {
    SharedLimits* shared = limits_.empty() ? nullptr : limits_[static_cast<size_t>(query)].get();
    const ThreadLimits limits = {shared, static_cast<int>(part), 0};
    std::vector<int64_t> lists;
    lists.reserve(static_cast<size_t>(probes_.nprobe));
    for_each_list(query, [&](int64_t probe, int64_t list) {
      if (probe % parts_ == part) lists.push_back(list);
    });
    scan->search(queries_.data(), query, lists, best_.data() + part * nq, limits);
    progress_.advance(1.0 / static_cast<double>(parts_));
  }

  QueriesOfLists queries_of_lists(int64_t nq) const {
    QueriesOfLists of;
    of.ends.resize(static_cast<size_t>(file_.lists.count()) + 1);
    for (int64_t query = 0; query < nq; ++query) {
      for_each_list(query,
                    [&](int64_t, int64_t list) { ++of.ends[static_cast<size_t>(list) + 1]; });
    }
    std::partial_sum(of.ends.begin(), of.ends.end(), of.ends.begin());
    of.numbers.resize(static_cast<size_t>(of.ends.back()));
    std::vector<int64_t> at(of.ends.begin(), of.ends.end() - 1);
    for (int64_t query = 0; query < nq; ++query) {
      for_each_list(query, [&](int64_t, int64_t list) {
        of.numbers[static_cast<size_t>(at[static_cast<size_t>(list)]++)] =
            static_cast<int32_t>(query);
      });
    }
    return of;
  }

  void search_by_lists(int64_t nq) {
    parts_ = threads_;
    best_.assign(static_cast<size_t>(parts_ * nq), results_.collector(kept_));
    const QueriesOfLists of = queries_of_lists(nq);
    const double queries_per_probe =
        static_cast<double>(nq) / std::max<double>(1, static_cast<double>(of.numbers.size()));
    parallel_for(file_.lists.count(), threads_, [&](int64_t list, int thread) {
      const auto list_offset = static_cast<size_t>(list);
      std::span<const int32_t> left = {of.numbers.data() + of.ends[list_offset],
                                       of.numbers.data() + of.ends[list_offset + 1]};
      while (!left.empty()) {
        // A query that has the list twice is not met twice together.
        const size_t most = std::min<size_t>(left.size(), ListScan::kMaxQueries);
        const auto end = std::adjacent_find(left.begin(), left.begin() + most);
        const size_t count = end == left.begin() + most ? most : end - left.begin() + 1;
        scan_of(thread).search(queries_.data(), left.first(count), list, best_.data() + thread * nq,
                               {});
        left = left.subspan(count);
        progress_.advance(static_cast<double>(count) * queries_per_probe);
      }
    });
  }

  // What is returned is what Codec::score says of a row. Of more than k it chooses, too.
  void finish(int64_t query, ListScan* scan, std::vector<Neighbor>& candidates) {
    if (!results_.is_range()) keep_best(candidates, kept_);
    for (Neighbor& neighbor : candidates) {
      if (file_.scan_codec != nullptr) {
        const float score = scan->score(queries_[static_cast<size_t>(query)], neighbor.id);
        neighbor.score = key_of_score(score, file_.codec.higher_is_nearer());
        if (kept_ > results_.k()) neighbor.key = neighbor.score;
      }
      if (label_ == RowLabel::id)
        neighbor.id = file_.lists.ids(list_of_offset(neighbor.id))[row_of_offset(neighbor.id)];
    }
  }

  const InvertedFile& file_;
  const ListProbes& probes_;
  RowLabel label_;
  const SearchRequest& request_;
  ResultWriter results_;
  int64_t kept_;  // rows by values
  int threads_;
  std::vector<std::unique_ptr<ListScan>> scans_;  // of each thread
  SearchProgress progress_;
  int64_t first_query_ = 0;
  ListPlan plan_;  // of the group
  std::vector<PreparedQuery> queries_;
  int64_t parts_ = 1;                                  // that a query is searched in
  std::vector<TopK> best_;                             // (parts, queries)
  std::vector<std::unique_ptr<SharedLimits>> limits_;  // of queries in parts
};

}  // namespace

void list_search(const InvertedFile& file, const ListProbes& probes, RowLabel label,
                 const SearchRequest& request, const SearchResult& result) {
  GroupSearch(file, probes, label, request, result).run();
}

}  // namespace polarquant
