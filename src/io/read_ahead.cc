// SPDX-License-Identifier: MIT
#include "src/io/read_ahead.h"

#include "src/core/platform/platform.h"

namespace polarquant {

bool ReadAhead::is_wanted() {
  const int left = searches_left_.load(std::memory_order_relaxed);
  if (left > 0) {
    searches_left_.store(left - 1, std::memory_order_relaxed);
    return true;
  }
  const std::optional<long> waits = platform::page_waits();
  if (!waits || waits_.exchange(*waits, std::memory_order_relaxed) == *waits) return false;
  tell_missing();
  return true;
}

}  // namespace polarquant
