// SPDX-License-Identifier: MIT
// Taking rows out of a store of codes that can copy one row's code over another's.
#pragma once

#include <cstdint>
#include <span>

namespace polarquant {

/// Copies one row's code over another's; `code` is space for one.
template <typename Store>
void copy_row(Store& store, int64_t from, int64_t to, uint8_t* code) {
  store.get(from, code);
  store.overwrite(to, code);
}

/// Bit row%64 of word row/64; 0 beyond the end.
inline bool is_removed(std::span<const uint64_t> removed, int64_t row) {
  const auto word = static_cast<size_t>(row / 64);
  return word < removed.size() && (removed[word] >> (row % 64) & 1) != 0;
}
/// Moves the rows that are not removed, of `rows`, to the beginning, in order, by copy(from, to).
/// Returns how many they are: the rows after them are to be dropped.
template <typename Copy>
int64_t move_kept_rows(int64_t rows, std::span<const uint64_t> removed, const Copy& copy) {
  int64_t kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (is_removed(removed, row)) continue;
    if (kept != row) copy(row, kept);
    ++kept;
  }
  return kept;
}

}  // namespace polarquant
