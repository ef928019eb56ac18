// SPDX-License-Identifier: MIT
// The number of threads of one call, for loops that name none: FAISS's, which take it from OpenMP's
// setting alone, and ours. That setting belongs to the calling thread (OpenMP keeps nthreads-var
// for each task), so that no other thread sees it changed here and set back.
#pragma once

#include <omp.h>

#include <cstdint>
#include <limits>

#include "src/core/parallel.h"

namespace polarquant {

class OmpThreads {
 public:
  /// num_threads 0: OpenMP's default. In a forked child always 1: OpenMP's threads did not survive
  /// the fork, and FAISS would wait for them for ever.
  explicit OmpThreads(int32_t num_threads) noexcept : previous_(omp_get_max_threads()) {
    omp_set_num_threads(thread_count(num_threads, std::numeric_limits<int64_t>::max()));
  }
  ~OmpThreads() { omp_set_num_threads(previous_); }
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int previous_;
};

}  // namespace polarquant
