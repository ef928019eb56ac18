// SPDX-License-Identifier: MIT
// Checks of the arguments of FAISS callers, by the name of their call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/codec/codec.h"
#include "src/core/checked_size.h"
#include "src/core/row_length.h"

namespace polarquant {

// Codecs code every row that is accepted.
static_assert(double{kMaxRowLength} == kMaxRowNorm);

/// n rows of d floats must fit the address space.
inline void require_row_array(const char* call, int64_t n, int d, const float* x) {
  require(n >= 0, StatusCode::bad_argument, "{}: n is {}; at least 0 rows are needed", call, n);
  const size_t count = checked_mul(n, d, "n x d floats");
  checked_mul(count, sizeof(float), "bytes of n x d floats");
  require(n == 0 || x != nullptr, StatusCode::bad_argument, "{}: x is null; {} rows are needed",
          call, n);
}

/// n rows of d floats, each finite and of a length that is taken (row_length.h).
inline void require_rows(const char* call, int64_t n, int d, const float* x) {
  require_row_array(call, n, d, x);
  require_row_lengths(call, n, d, x);
}

/// The same for training.
inline void require_training_rows(const char* call, int64_t n, int d, const float* x) {
  require_row_array(call, n, d, x);
  require(n >= 1, StatusCode::bad_argument, "{}: n is 0; at least 1 row is needed", call);
  require_training_lengths(call, n, d, x);
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
