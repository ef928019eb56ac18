// SPDX-License-Identifier: MIT
#include "src/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "src/core/platform/platform.h"
#include "src/core/threads.h"
#include "src/core/work_progress.h"

namespace polarquant {
namespace {

std::atomic<bool> forked{false};

const bool kForksAreKnown =
    platform::on_fork_in_child([] { forked.store(true, std::memory_order_relaxed); });

}  // namespace

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

int thread_count(int requested, int64_t iterations) noexcept {
  if (!kForksAreKnown || in_forked_child()) return 1;
  const int64_t wanted = requested > 0 ? requested : default_threads();
  return static_cast<int>(std::max<int64_t>(1, std::min(wanted, iterations)));
}

void parallel_for(int64_t iterations, int threads,
                  const std::function<void(int64_t index, int thread)>& body) {
  WorkProgress* const work = WorkProgress::current();
  if (work != nullptr) work->begin_loop();
  if (threads <= 1) {
    for (int64_t i = 0; i < iterations; ++i) {
      if (work != nullptr) work->poll();
      body(i, 0);
    }
    return;
  }
  // Thread 0 may get no iteration.
  if (work != nullptr) work->poll();
  std::exception_ptr first_error;
  std::mutex error_mutex;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> next{0};
  run_on_threads(threads, [&](int thread) {
    int64_t i;
    while ((i = next.fetch_add(1, std::memory_order_relaxed)) < iterations) {
      if (stop.load(std::memory_order_relaxed)) return;
      try {
        // Thread 0 is the caller's.
        if (work != nullptr && thread == 0) work->poll();
        body(i, thread);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(error_mutex);
        if (!first_error) first_error = std::current_exception();
        stop.store(true, std::memory_order_relaxed);
      }
    }
  });
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace polarquant
