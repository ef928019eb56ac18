// SPDX-License-Identifier: MIT
// The number of threads of one call, for loops that name none: ours, and FAISS's, which take it
// from OpenMP's setting alone.
#pragma once

#include <cstdint>
#include <limits>

#include "src/core/parallel.h"
#include "src/core/threads.h"

namespace polarquant {

class CallThreads {
 public:
  /// num_threads 0: the default. In a forked child always 1: the threads did not survive the fork,
  /// and FAISS would wait for OpenMP's for ever.
  explicit CallThreads(int32_t num_threads) noexcept : previous_(default_threads()) {
    set_default_threads(thread_count(num_threads, std::numeric_limits<int64_t>::max()));
  }
  ~CallThreads() { set_default_threads(previous_); }
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

 private:
  int previous_;
};

}  // namespace polarquant
