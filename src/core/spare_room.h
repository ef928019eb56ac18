// SPDX-License-Identifier: MIT
// How much more than they hold the codes and ids of an index take as they grow: doubling would cost
// a short list half its bytes again, and a long one as many at worst.
#pragma once

#include <cstddef>

namespace polarquant {

/// Of what is held, one part in so many.
inline constexpr size_t kSpareShare = 128;

/// Rows' memory is taken for so many at a time: short lists, which grow and shrink in turn, so
/// leave pieces that fit each other.
inline constexpr size_t kRowStep = 8;
constexpr size_t whole_steps(size_t rows) { return (rows + kRowStep - 1) / kRowStep * kRowStep; }
/// Rows of spare memory that are kept as rows go: far more than growing ones take, so that rows
/// that come and go in turn do not move the others each time.
constexpr size_t most_spare_rows(size_t rows) { return rows / 16 + kRowStep; }

/// Space for `more` elements.
template <typename Vector>
void reserve_more(Vector& vector, size_t more) {
  const size_t needed = vector.size() + more;
  if (needed > vector.capacity()) vector.reserve(needed + vector.size() / kSpareShare);
}

}  // namespace polarquant
