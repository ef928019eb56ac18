// SPDX-License-Identifier: MIT
#include "src/codec/code_layout.h"

#include "src/core/checked_size.h"

namespace polarquant {

size_t CodeLayout::bytes(int64_t n) const {
  require(n >= 0, StatusCode::bad_argument, "n: {} rows; at least 0 are needed", n);
  const size_t groups = checked_mul(n / group_rows, group_bytes, "bytes of n rows' codes");
  const size_t tail = checked_mul(n % group_rows, tail_row_bytes, "bytes of n rows' codes");
  return checked_add(groups, tail, "bytes of n rows' codes");
}

}  // namespace polarquant
