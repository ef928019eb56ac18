// SPDX-License-Identifier: MIT
// The driver of searches of many queries. Queries go in groups, whose best rows are in memory
// together; a group's search is tasks, which threads take as they come, and each part of it keeps
// best rows of its own for every query; at the end those of each query come together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/codec/codec.h"
#include "src/core/parallel.h"
#include "src/scan/search/plan.h"
#include "src/scan/search/query_tasks.h"
#include "src/scan/search/search_progress.h"
#include "src/scan/search/search_result.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

class QueryGroups {
 public:
  QueryGroups(const QueryGroups&) = delete;
  QueryGroups& operator=(const QueryGroups&) = delete;
  virtual ~QueryGroups() = default;

 protected:
  /// Everything is borrowed. work: of all queries, as progress_ is told of it.
  QueryGroups(const Codec& codec, const SearchRequest& request, const SearchResult& result,
              int threads, double work);

  /// All queries, so many together at the most.
  void run(int64_t group_queries);

  /// Brings the group's rows into best(part) of each query, after prepare_queries and begin_parts.
  virtual void search_group() = 0;
  /// Prepares count of the group's queries, from the first on.
  virtual void prepare(int64_t first, int64_t count);
  /// Makes of a query's candidates, from all parts, those that are returned, with their scores.
  virtual void finish(int64_t /*query*/, int /*thread*/, std::vector<Neighbor>* /*found*/) {}

  float exactness() const { return request_.options.exactness; }
  bool is_range() const { return request_.goal.is_range; }
  int64_t k() const { return request_.goal.k; }
  /// Whether of so many rows that were kept the k best are chosen by score, here.
  bool chooses_by_score(int64_t kept) const { return kept > k() && !results_.is_partial(); }
  /// A query of the group, counted from its first one.
  const float* query(int64_t q) const {
    return request_.queries + (first_query_ + q) * codec_.dim();
  }
  void prepare_queries();
  /// `kept` ≥ k best rows of each query in each part.
  void begin_parts(int64_t parts, int64_t kept);
  TopK* best(int64_t part) { return best_.data() + part * nq_; }

  /// Calls body(slice, first query, count, task, thread) for so many tasks of each of the plan's
  /// slices of the group; a task of every slice first.
  template <typename Body>
  void for_each_task(const ScanPlan& plan, int64_t tasks, const Body& body) {
    tasks *= plan.slices;
    parallel_for(tasks, thread_count(threads_, tasks), [&](int64_t task, int thread) {
      const int64_t slice = task % plan.slices;
      const int64_t first = slice * plan.slice_queries;
      const int64_t count = std::min(nq_ - first, plan.slice_queries);
      if (count > 0) body(slice, first, count, task / plan.slices, thread);
    });
  }

  const Codec& codec_;
  const SearchRequest& request_;
  const int threads_;
  SearchProgress progress_;
  // The group.
  int64_t first_query_ = 0;
  int64_t nq_ = 0;
  std::vector<PreparedQuery> prepared_;

 private:
  void run_group(int64_t first, int64_t nq);

  ResultWriter results_;
  std::vector<TopK> best_;  // (parts, queries)
};

}  // namespace polarquant
