// SPDX-License-Identifier: MIT
#include <omp.h>

#include "src/core/threads.h"

namespace polarquant {

int default_threads() noexcept { return omp_get_max_threads(); }

// OpenMP keeps this number for each task: no other thread sees it changed.
void set_default_threads(int threads) noexcept { omp_set_num_threads(threads); }

void run_on_threads(int threads, const std::function<void(int thread)>& body) {
#pragma omp parallel num_threads(threads)
  body(omp_get_thread_num());
}

}  // namespace polarquant
