// SPDX-License-Identifier: MIT
#include "src/scan/search/thread_limits.h"

#include <algorithm>
#include <limits>

namespace polarquant {
namespace {

std::unique_ptr<std::atomic<float>[]> infinite_keys(int64_t count) {
  std::unique_ptr<std::atomic<float>[]> keys(new std::atomic<float>[static_cast<size_t>(count)]);
  for (int64_t i = 0; i < count; ++i) keys[i] = std::numeric_limits<float>::infinity();
  return keys;
}

}  // namespace

CommonLimits::CommonLimits(int threads, int64_t nq, int64_t k)
    : threads_(threads),
      nq_(nq),
      part_((k - 1) / threads + 1),
      parts_((k - 1) / part_ + 1),
      part_keys_(infinite_keys(threads * nq)),
      keys_(infinite_keys(nq)),
      scratch_(static_cast<size_t>(threads)) {}

void CommonLimits::exchange(int thread, int64_t query, TopK* best) {
  std::vector<float>& scratch = scratch_[static_cast<size_t>(thread)];
  float lowest = keys_[query].load(std::memory_order_relaxed);
  if (best->take_change()) {
    part_keys_[thread * nq_ + query].store(best->key_of_rank(part_, &scratch),
                                           std::memory_order_relaxed);
    const float own = best->worst_key();
    while (own < lowest &&
           !keys_[query].compare_exchange_weak(lowest, own, std::memory_order_relaxed)) {
    }
  }
  // parts_ threads have part_ rows each, at least k together, whose keys are not above this one.
  scratch.clear();
  for (int64_t i = 0; i < threads_; ++i)
    scratch.push_back(part_keys_[i * nq_ + query].load(std::memory_order_relaxed));
  const auto last = scratch.begin() + (parts_ - 1);
  std::nth_element(scratch.begin(), last, scratch.end());
  best->lower_limit(std::min(*last, lowest));
}

}  // namespace polarquant
