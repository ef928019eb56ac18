// SPDX-License-Identifier: MIT
// What searches of a group of queries by several threads share: how work is cut, and how the
// threads' best rows of a query come together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/core/parallel.h"
#include "src/scan/search/top_k.h"

namespace polarquant {

/// Queries prepared, or merged, by one task: a few microseconds each.
inline constexpr int64_t kQueriesPerTask = 8;
/// Tasks wanted per thread, so that none waits long for the last.
inline constexpr int64_t kTasksPerThread = 4;

inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// body(first, count) for nq queries, some at a time, on `threads` threads.
template <typename Body>
void for_some_queries(int64_t nq, int threads, const Body& body) {
  const int64_t tasks = div_up(nq, kQueriesPerTask);
  parallel_for(tasks, thread_count(threads, tasks), [&](int64_t task, int) {
    const int64_t first = task * kQueriesPerTask;
    body(first, std::min(nq - first, kQueriesPerTask));
  });
}
/// body(query) for each.
template <typename Body>
void for_each_query(int64_t nq, int threads, const Body& body) {
  for_some_queries(nq, threads, [&](int64_t first, int64_t count) {
    for (int64_t query = first; query < first + count; ++query) body(query);
  });
}

/// The candidates of one query from every thread; best: (threads, nq).
inline std::vector<Neighbor> candidates_of(const std::vector<TopK>& best, int threads, int64_t nq,
                                           int64_t query) {
  std::vector<Neighbor> all;
  for (int64_t thread = 0; thread < threads; ++thread) {
    const auto& part = best[static_cast<size_t>(thread * nq + query)].neighbors();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace polarquant
