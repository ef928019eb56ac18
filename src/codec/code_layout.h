// SPDX-License-Identifier: MIT
// Where the rows of a codec lie in a caller's buffer: full groups first, each one code, then the
// rows of the unfinished last group in full precision. For all codecs but PolarPair…g128 a group is
// one row, and this is n codes one after another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polarquant {

struct CodeLayout {
  int group_rows = 1;
  size_t group_bytes = 0;     // one group's code, factors included
  size_t tail_row_bytes = 0;  // one row of the unfinished group; 0 when group_rows is 1

  /// Bytes of n ≥ 0 rows; throws bad_argument when that does not fit a size_t.
  size_t bytes(int64_t n) const;
};

/// Codes of `rows` rows, borrowed from their owner.
struct CodeRows {
  const uint8_t* data = nullptr;
  int64_t rows = 0;
};

}  // namespace polarquant
