// SPDX-License-Identifier: MIT
// How much more than they hold the codes and ids of an index take as they grow: doubling would cost
// a short list half its bytes again, and a long one as many at worst.
#pragma once

#include <cstddef>

namespace polarquant {

/// Of what is held, one part in so many.
inline constexpr size_t kSpareShare = 128;

/// Space for `more` elements.
template <typename Vector>
void reserve_more(Vector& vector, size_t more) {
  const size_t needed = vector.size() + more;
  if (needed > vector.capacity()) vector.reserve(needed + vector.size() / kSpareShare);
}

}  // namespace polarquant
