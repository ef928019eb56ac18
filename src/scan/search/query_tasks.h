// SPDX-License-Identifier: MIT
// How work on many queries is cut for threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/core/parallel.h"

namespace polarquant {

/// Queries that one task prepares or merges.
inline constexpr int64_t kQueriesPerTask = 8;
/// Tasks for each thread, so that none waits long for the last.
inline constexpr int64_t kTasksPerThread = 4;

inline int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// body(first, count, thread) for nq queries, some at a time, on `threads` threads.
template <typename Body>
void for_some_queries(int64_t nq, int threads, const Body& body) {
  const int64_t tasks = div_up(nq, kQueriesPerTask);
  parallel_for(tasks, thread_count(threads, tasks), [&](int64_t task, int thread) {
    const int64_t first = task * kQueriesPerTask;
    body(first, std::min(nq - first, kQueriesPerTask), thread);
  });
}
/// body(query) for each.
template <typename Body>
void for_each_query(int64_t nq, int threads, const Body& body) {
  for_some_queries(nq, threads, [&](int64_t first, int64_t count, int) {
    for (int64_t query = first; query < first + count; ++query) body(query);
  });
}

}  // namespace polarquant
