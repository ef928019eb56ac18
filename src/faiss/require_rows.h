// SPDX-License-Identifier: MIT
// What every call that takes vectors asks of them.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/core/checked_size.h"
#include "src/core/status.h"

namespace polarquant {

/// n rows of d floats, each finite; the text names the first row that is not.
inline void require_rows(const char* call, int64_t n, int d, const float* x) {
  require(n >= 0, StatusCode::bad_argument, "{}: n is {}; at least 0 rows are needed", call, n);
  const size_t count = checked_mul(n, d, "n x d floats");
  checked_mul(count, sizeof(float), "bytes of n x d floats");
  require(n == 0 || x != nullptr, StatusCode::bad_argument, "{}: x is null; {} rows are needed",
          call, n);
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(x[i])) continue;
    fail(StatusCode::bad_argument,
         "{}: row {} of x has {} at coordinate {}; finite numbers are needed", call,
         i / static_cast<size_t>(d), x[i], i % static_cast<size_t>(d));
  }
}

}  // namespace polarquant
