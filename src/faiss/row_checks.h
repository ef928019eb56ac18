// SPDX-License-Identifier: MIT
// Checks of what FAISS callers pass, by the name of the call they made.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "src/codec/codec.h"
#include "src/core/checked_size.h"

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

/// A row has no code of its own where rows are coded in groups.
inline void require_row_codes(const char* call, const Codec& codec) {
  require(codec.layout().group_rows == 1, StatusCode::unsupported,
          "{}: {} codes {} rows together, so that a row has no code of its own; add, search and "
          "reconstruct work",
          call, print_spec(codec.spec()), codec.layout().group_rows);
}

inline void require_trained(const char* call, const Codec& codec) {
  require(codec.is_trained(), StatusCode::not_trained, "{}: {} is not trained; call train first",
          call, print_spec(codec.spec()));
}

/// Rows of a mapped file, in a RowStore or CodeLists, cannot be changed.
template <typename Rows>
void require_writable(const char* call, const Rows& rows) {
  require(!rows.is_mapped(), StatusCode::unsupported,
          "{}: the index is memory-mapped and cannot be changed; read it without memory_map, or "
          "clone it",
          call);
}

}  // namespace polarquant
