// SPDX-License-Identifier: MIT
// Loops over threads. The thread count is an argument of each loop and is never set globally;
// exceptions of the body reach the caller; a fork()ed child runs its loops on one thread, since
// others do not survive the fork.
#pragma once

#include <cstdint>
#include <functional>

namespace polarquant {

/// Whether this process is a fork()ed child of one that used this library: its threads are gone.
bool in_forked_child() noexcept;

/// How many threads a loop of `iterations` will use: `requested`, or default_threads() when it is
/// 0, never more than there are iterations, and 1 in a forked child.
int thread_count(int requested, int64_t iterations) noexcept;

/// Calls body(i, thread) for each i in [0, iterations), in no stated order, 0 ≤ thread < threads.
/// The first exception thrown stops new iterations and is thrown again here. Each iteration is a
/// place where the call may be stopped (work_progress.h).
void parallel_for(int64_t iterations, int threads,
                  const std::function<void(int64_t index, int thread)>& body);

}  // namespace polarquant
