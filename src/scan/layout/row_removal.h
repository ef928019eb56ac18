// SPDX-License-Identifier: MIT
// Taking rows out of a store of codes that can copy one row's code over another's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace polarquant {

template <typename Store>
void copy_row(Store& store, int64_t from, int64_t to, std::vector<uint8_t>& code) {
  store.get(from, code.data());
  store.overwrite(to, code.data());
}

/// Bit row%64 of word row/64; 0 beyond the end.
inline bool is_removed(std::span<const uint64_t> removed, int64_t row) {
  const auto word = static_cast<size_t>(row / 64);
  return word < removed.size() && (removed[word] >> (row % 64) & 1) != 0;
}
/// How many of the rows 0 … rows−1 are removed.
inline int64_t count_removed(std::span<const uint64_t> removed, int64_t rows) {
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) count += is_removed(removed, row) ? 1 : 0;
  return count;
}

/// Moves the rows that are not removed to the beginning, in order. Returns how many they are: the
/// rows after them are to be dropped. `code`: space for one row's.
template <typename Store>
int64_t move_kept_rows(Store& store, std::vector<uint8_t>& code,
                       std::span<const uint64_t> removed) {
  int64_t kept = 0;
  for (int64_t row = 0; row < store.rows(); ++row) {
    if (is_removed(removed, row)) continue;
    if (kept != row) copy_row(store, row, kept, code);
    ++kept;
  }
  return kept;
}

/// Puts the last row, which is to be dropped, in the place of `row`.
template <typename Store>
void move_last_row(Store& store, size_t code_bytes, int64_t row) {
  std::vector<uint8_t> code(code_bytes);
  if (row != store.rows() - 1) copy_row(store, store.rows() - 1, row, code);
}

}  // namespace polarquant
