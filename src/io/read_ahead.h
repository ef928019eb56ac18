// SPDX-License-Identifier: MIT
// When to ask for parts of a mapped file before they are read. A file that is in memory gains
// nothing by it: asking costs a microsecond a part. One that is larger than memory is read many
// times as fast: parts come side by side, and whole.
//
// So it is asked while pages are missing, and for some searches after that; then only the number of
// times that this process waited for a page tells that it is time again.
//
// Threads: all functions may run at the same time.
#pragma once

#include <atomic>

namespace polarquant {

class ReadAhead {
 public:
  /// Whether a search that begins now should ask.
  bool is_wanted();
  /// A page that was asked for was not in memory.
  void tell_missing() { searches_left_.store(kSearches, std::memory_order_relaxed); }

 private:
  /// Searches that go on asking after the last page that was missing.
  static constexpr int kSearches = 64;

  std::atomic<int> searches_left_{kSearches};
  std::atomic<long> waits_{0};  // for pages, of the process, when they were last looked at
};

}  // namespace polarquant
