// SPDX-License-Identifier: MIT
// Sizes that come from callers or files are multiplied and added here, so that none can wrap round.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "src/core/status.h"

namespace polarquant {

/// a·b as size_t; throws bad_argument naming `what` when a factor is negative or the product wraps.
template <std::integral A, std::integral B>
size_t checked_mul(A a, B b, const char* what) {
  size_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) {
    fail(StatusCode::bad_argument, "{}: {} x {} does not fit a size (0 to {})", what, a, b,
         SIZE_MAX);
  }
  return out;
}

/// a+b as size_t; throws bad_argument naming `what` when the sum is negative or wraps.
template <std::integral A, std::integral B>
size_t checked_add(A a, B b, const char* what) {
  size_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) {
    fail(StatusCode::bad_argument, "{}: {} + {} does not fit a size (0 to {})", what, a, b,
         SIZE_MAX);
  }
  return out;
}

}  // namespace polarquant
