// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace polarquant {

/// The blocks of a search, handed out to threads as they ask: cores differ in speed, from moment to
/// moment too, and none may wait long for another. (Halves that are fixed beforehand: of 150 µs
/// that two threads took for a query, one of them waited 30 µs.)
class BlockClaims {
 public:
  struct Range {
    int64_t first;
    int64_t count;
  };

  BlockClaims(int64_t blocks, int threads) : blocks_(blocks), threads_(threads) {}

  /// A thread's share of what is left, at least `least` and at most `most` ≥ `least` blocks;
  /// none once all are taken.
  Range take(int64_t least, int64_t most) {
    int64_t first = next_.load(std::memory_order_relaxed);
    int64_t count;
    do {
      const int64_t left = blocks_ - first;
      count = std::min(left, std::clamp(left / threads_, least, most));
    } while (!next_.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
    return {first, count};
  }

 private:
  int64_t blocks_;
  int64_t threads_;
  std::atomic<int64_t> next_{0};
};

}  // namespace polarquant
