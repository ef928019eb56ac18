// SPDX-License-Identifier: MIT
// Where lists are probed by many queries of a batch, lists are tasks: each is read, and its rows
// are decoded, once for all its queries. Otherwise queries are tasks; few queries split their
// probes among several tasks, nearest lists first for each, which tell each other how good rows
// must be.
#include "src/scan/search/list_search.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "src/scan/search/kept_list_rows.h"
#include "src/scan/search/list_scan.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_groups.h"
#include "src/scan/search/thread_limits.h"

namespace polarquant {
namespace {

/// Lists that are asked for together when a batch goes list by list.
constexpr int64_t kAheadLists = 32;

/// The queries of a group that have each list, by list.
struct QueriesOfLists {
  std::vector<int64_t> ends;     // (lists + 1): of list i, numbers ends[i] … ends[i+1]−1
  std::vector<int32_t> numbers;  // of queries, rising within a list
};

class ListSearch final : public QueryGroups {
 public:
  ListSearch(const InvertedFile& file, const ListProbes& probes, RowLabel label,
             const SearchRequest& request, const SearchResult& result)
      : QueryGroups(file.codec, request, result,
                    thread_count(request.threads, std::max(request.nq, request.nq * probes.nprobe)),
                    static_cast<double>(request.nq)),
        file_(file),
        probes_(probes),
        label_(label),
        kept_(file.scan_codec != nullptr ? file.scan_codec->rescored_rows(k()) : k()),
        scans_(static_cast<size_t>(threads_)) {
    for (int64_t i = 0; i < request.nq * probes.nprobe; ++i) {
      require(probes.lists[i] >= -1 && probes.lists[i] < file.lists.count(),
              StatusCode::bad_argument, "probes: number {} of query {} is list {}; there are {}",
              i % probes.nprobe, i / probes.nprobe, probes.lists[i], file.lists.count());
    }
  }

  void run() { QueryGroups::run(kListGroupQueries); }

 private:
  void search_group() override {
    prepare_queries();
    plan_ = plan_lists(file_.scan_codec, ScanMachine::here(),
                       {nq_, probes_.nprobe, file_.lists.count(), exactness(), threads_,
                        share_kept(request_.filter)});
    if (plan_.by_lists) {
      search_by_lists();
    } else {
      search_by_queries();
    }
  }

  ListScan& scan_of(int thread) {
    auto& scan = scans_[static_cast<size_t>(thread)];
    if (scan == nullptr) scan = std::make_unique<ListScan>(file_, plan_, request_);
    return *scan;
  }

  /// Calls body(probe, list) for the lists that a query of the group probes.
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

  void search_by_queries() {
    const int64_t parts = plan_.parts;
    begin_parts(parts, kept_);
    limits_.clear();
    if (parts > 1 && !is_range()) {
      for (int64_t query = 0; query < nq_; ++query)
        limits_.push_back(std::make_unique<CommonLimits>(static_cast<int>(parts), 1, kept_));
    }
    const int64_t tasks = nq_ * parts;
    parallel_for(tasks, thread_count(threads_, tasks), [&](int64_t task, int thread) {
      search_part(static_cast<int32_t>(task / parts), task % parts, &scan_of(thread));
    });
  }

  // Every parts-th of the query's lists, from the part-th on.
  void search_part(int32_t query, int64_t part, ListScan* scan) {
    CommonLimits* shared = limits_.empty() ? nullptr : limits_[static_cast<size_t>(query)].get();
    const ThreadLimits limits = {shared, static_cast<int>(part), 0};
    std::vector<int64_t> lists;
    lists.reserve(static_cast<size_t>(probes_.nprobe));
    for_each_list(query, [&](int64_t probe, int64_t list) {
      if (probe % plan_.parts == part) lists.push_back(list);
    });
    file_.lists.read_ahead(lists);
    scan->search(prepared_.data(), query, lists, best(part), limits);
    progress_.advance(1.0 / static_cast<double>(plan_.parts));
  }

  QueriesOfLists queries_of_lists() const {
    QueriesOfLists queries;
    queries.ends.resize(static_cast<size_t>(file_.lists.count()) + 1);
    for (int64_t query = 0; query < nq_; ++query) {
      for_each_list(query,
                    [&](int64_t, int64_t list) { ++queries.ends[static_cast<size_t>(list) + 1]; });
    }
    std::partial_sum(queries.ends.begin(), queries.ends.end(), queries.ends.begin());
    queries.numbers.resize(static_cast<size_t>(queries.ends.back()));
    std::vector<int64_t> at(queries.ends.begin(), queries.ends.end() - 1);
    for (int64_t query = 0; query < nq_; ++query) {
      for_each_list(query, [&](int64_t, int64_t list) {
        queries.numbers[static_cast<size_t>(at[static_cast<size_t>(list)]++)] =
            static_cast<int32_t>(query);
      });
    }
    return queries;
  }

  // Lists that are searched while those before them are read.
  void read_ahead(const QueriesOfLists& queries, int64_t list) const {
    std::vector<int64_t> next;
    // The first ones are read at once.
    const int64_t begin = list == 0 ? 0 : list + kAheadLists;
    const int64_t end = std::min(list + 2 * kAheadLists, file_.lists.count());
    for (int64_t other = begin; other < end; ++other) {
      if (queries.ends[static_cast<size_t>(other)] < queries.ends[static_cast<size_t>(other) + 1])
        next.push_back(other);
    }
    file_.lists.read_ahead(next);
  }

  void search_by_lists() {
    begin_parts(threads_, kept_);
    const QueriesOfLists queries = queries_of_lists();
    const double queries_per_probe =
        static_cast<double>(nq_) / std::max<double>(1, static_cast<double>(queries.numbers.size()));
    parallel_for(file_.lists.count(), threads_, [&](int64_t list, int thread) {
      if (list % kAheadLists == 0) read_ahead(queries, list);
      const int64_t* ends = &queries.ends[static_cast<size_t>(list)];
      std::span<const int32_t> left = {queries.numbers.data() + ends[0],
                                       queries.numbers.data() + ends[1]};
      while (!left.empty()) {
        // A query that probes a list twice is not searched twice together.
        const size_t most = std::min<size_t>(left.size(), ListScan::kMaxQueries);
        const auto end = std::adjacent_find(left.begin(), left.begin() + most);
        const size_t count = end == left.begin() + most ? most : end - left.begin() + 1;
        scan_of(thread).search(prepared_.data(), left.first(count), list, best(thread), {});
        left = left.subspan(count);
        progress_.advance(static_cast<double>(count) * queries_per_probe);
      }
    });
  }

  // What is returned is what Codec::score says of a row. Of more than k it chooses, too.
  void finish(int64_t query, int thread, std::vector<Neighbor>* found) override {
    if (!is_range()) keep_best(*found, kept_);
    for (Neighbor& neighbor : *found) {
      if (file_.scan_codec != nullptr) {
        const float score =
            scan_of(thread).score(prepared_[static_cast<size_t>(query)], neighbor.id);
        neighbor.score = key_of_score(score, codec_.higher_is_nearer());
        if (chooses_by_score(kept_)) neighbor.key = neighbor.score;
      }
      if (label_ == RowLabel::id)
        neighbor.id = file_.lists.ids(list_of_offset(neighbor.id))[row_of_offset(neighbor.id)];
    }
  }

  const InvertedFile& file_;
  const ListProbes& probes_;
  RowLabel label_;
  int64_t kept_;                                       // rows by values
  std::vector<std::unique_ptr<ListScan>> scans_;       // of each thread
  ListPlan plan_;                                      // of the group
  std::vector<std::unique_ptr<CommonLimits>> limits_;  // of queries in parts
};

}  // namespace

void list_search(const InvertedFile& file, const ListProbes& probes, RowLabel label,
                 const SearchRequest& request, const SearchResult& result) {
  if (result.partial == nullptr) {
    ListSearch(file, probes, label, request, result).run();
    return;
  }
  // Rows of equal keys are ordered by list_offset, those of equal scores by label.
  ListSearch(file, probes, RowLabel::list_offset, request, result).run();
  for (std::vector<PartialRow>& rows : result.partial->queries) {
    for (PartialRow& row : rows) {
      const int64_t offset = row.row;
      row.list = list_of_offset(offset);
      row.row = row_of_offset(offset);
      if (label == RowLabel::id) row.id = row.order = file.lists.ids(row.list)[row.row];
    }
  }
}

}  // namespace polarquant
