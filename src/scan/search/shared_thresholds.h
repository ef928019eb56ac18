// SPDX-License-Identifier: MIT
// What threads that search different rows for the same queries tell each other: keys beyond which
// no row can be among the k best of all. It saves work and never changes a result.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/scan/search/top_k.h"

namespace polarquant {

class SharedLimits {
 public:
  SharedLimits(int threads, int64_t nq, int64_t k);

  /// Makes what `thread` has found for a query known, and lowers its limit to what all know.
  void exchange(int thread, int64_t query, TopK* best);

 private:
  int threads_;
  int64_t nq_;
  /// Rows that a thread answers for, ⌈k/threads⌉, and how many threads' rows make k.
  int64_t part_;
  int64_t parts_;
  std::unique_ptr<std::atomic<float>[]> part_keys_;  // (threads, nq): of the part-th best row
  std::unique_ptr<std::atomic<float>[]> keys_;       // (nq): the lowest k-th best of any thread
  std::vector<std::vector<float>> scratch_;          // of each thread
};

/// The limits as one thread sees them, for the queries from `first_query` on. Without limits there
/// is nothing to tell.
struct ThreadLimits {
  SharedLimits* limits = nullptr;
  int thread = 0;
  int64_t first_query = 0;

  ThreadLimits from(int64_t query) const { return {limits, thread, first_query + query}; }
  void exchange(int64_t query, TopK* best) const {
    if (limits != nullptr) limits->exchange(thread, first_query + query, best);
  }
};

}  // namespace polarquant
