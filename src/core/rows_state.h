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

/// A number for the rows that are held somewhere: the same as long as others only come after them.
class HeldRowsState {
 public:
  uint64_t number() const noexcept { return number_.load(std::memory_order_relaxed); }
  /// One of them changes or goes, or may. Calls may run together.
  void change() noexcept { number_.store(new_rows_state(), std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> number_ = new_rows_state();
};

}  // namespace polarquant
