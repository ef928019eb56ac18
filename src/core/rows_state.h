// SPDX-License-Identifier: MIT
// Numbers that name what rows an index holds: what was found of the rows once holds as long as the
// number is the same.
#pragma once

#include <atomic>
#include <cstdint>

namespace polarquant {

/// No rows: nothing that is found of them is kept.
inline constexpr uint64_t kUnknownRows = 0;

/// A number that no rows in this process had before.
inline uint64_t new_rows_state() {
  static std::atomic<uint64_t> last = kUnknownRows;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace polarquant
