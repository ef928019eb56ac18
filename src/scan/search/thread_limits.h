// SPDX-License-Identifier: MIT
// Limits that threads which search different rows for the same queries tell each other: keys beyond
// which no row can be among the k best of all. They save work and never change a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/search/top_k.h"

namespace polarquant {

class CommonLimits {
 public:
  CommonLimits(int threads, int64_t nq, int64_t k);

  /// Publishes what `thread` has found for a query, and lowers its limit to what all know.
  void exchange(int thread, int64_t query, TopK* best);

 private:
  int threads_;
  int64_t nq_;
  /// Rows that a thread answers for, ⌈k/threads⌉, and how many threads' rows make k.
  int64_t part_;
  int64_t parts_;
  std::unique_ptr<std::atomic<float>[]> part_keys_;  // (threads, nq): the part-th best row's
  std::unique_ptr<std::atomic<float>[]> keys_;       // (nq): the lowest k-th best of any thread
  std::vector<std::vector<float>> scratch_;          // one for each thread
};

/// One thread's view of the limits, for queries from `first_query` on; does nothing without any.
struct ThreadLimits {
  CommonLimits* limits = nullptr;
  int thread = 0;
  int64_t first_query = 0;

  ThreadLimits from(int64_t query) const { return {limits, thread, first_query + query}; }
  void exchange(int64_t query, TopK* best) const {
    if (limits != nullptr) limits->exchange(thread, first_query + query, best);
  }
};

}  // namespace polarquant
