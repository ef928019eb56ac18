// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace polarquant {

/// The blocks of a search, handed out to threads as they ask: cores differ in speed, from moment to
/// moment too, and none may wait long for another, as with halves that are fixed beforehand
/// (docs/dev/tuning.md, "Threads"). Each thread has a part of its own that it begins with, the same
/// in every search, so that a core's caches have the rows that it reads again; a thread with none
/// left takes from the end of what others have.
class WorkStealingRanges {
 public:
  struct Range {
    int64_t first;
    int64_t count;
  };

  /// At most 2³² − 1 blocks.
  WorkStealingRanges(int64_t blocks, int threads) : parts_(static_cast<size_t>(threads)) {
    for (int64_t i = 0; i < threads; ++i)
      parts_[static_cast<size_t>(i)].left.store(
          packed(blocks * i / threads, blocks * (i + 1) / threads), std::memory_order_relaxed);
  }

  /// Half of what is left of the thread's part, or else of another's, all where there is one
  /// thread, at least `least` and at most `most` ≥ `least` blocks; none once all are taken.
  Range take(int thread, int64_t least, int64_t most) {
    const Range own = take_from(parts_[static_cast<size_t>(thread)], least, most, true);
    if (own.count > 0) return own;
    while (true) {
      Part* longest = nullptr;
      int64_t length = 0;
      for (Part& part : parts_) {
        const Range left = range_of(part.left.load(std::memory_order_relaxed));
        if (left.count <= length) continue;
        longest = &part;
        length = left.count;
      }
      if (longest == nullptr) return {0, 0};
      const Range range = take_from(*longest, least, most, false);
      if (range.count > 0) return range;
    }
  }

 private:
  /// The blocks that are left: the first above, their end below. On a cache line of its own.
  struct alignas(64) Part {
    std::atomic<uint64_t> left{0};
  };

  static uint64_t packed(int64_t first, int64_t end) {
    return static_cast<uint64_t>(first) << 32 | static_cast<uint64_t>(end);
  }
  static Range range_of(uint64_t left) {
    const auto first = static_cast<int64_t>(left >> 32);
    return {first, static_cast<int64_t>(left & 0xFFFFFFFF) - first};
  }

  Range take_from(Part& part, int64_t least, int64_t most, bool from_start) const {
    const int64_t sharers = std::min<int64_t>(std::ssize(parts_), 2);
    uint64_t left = part.left.load(std::memory_order_relaxed);
    while (true) {
      const Range now = range_of(left);
      if (now.count == 0) return now;
      const int64_t count = std::min(now.count, std::clamp(now.count / sharers, least, most));
      const int64_t end = now.first + now.count;
      const uint64_t remaining =
          from_start ? packed(now.first + count, end) : packed(now.first, end - count);
      if (part.left.compare_exchange_weak(left, remaining, std::memory_order_relaxed))
        return {from_start ? now.first : end - count, count};
    }
  }

  std::vector<Part> parts_;
};

}  // namespace polarquant
