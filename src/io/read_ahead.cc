// SPDX-License-Identifier: MIT
#include "src/io/read_ahead.h"

#include <sys/resource.h>

namespace polarquant {

bool ReadAhead::is_wanted() {
  const int left = searches_left_.load(std::memory_order_relaxed);
  if (left > 0) {
    searches_left_.store(left - 1, std::memory_order_relaxed);
    return true;
  }
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return false;
  if (waits_.exchange(usage.ru_majflt, std::memory_order_relaxed) == usage.ru_majflt) return false;
  tell_missing();
  return true;
}

}  // namespace polarquant
