// SPDX-License-Identifier: MIT
// Rows as an index keeps them, coded before they are put in: that may be done while others search
// the index, and takes most of the time.
#pragma once

#include <cstdint>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

struct CodedRows {
  std::vector<uint8_t> codes;  // in the row format; empty: they are coded as they are put in
  std::vector<idx_t> lists;    // of an inverted file, where there are codes: each row's

  bool empty() const { return codes.empty(); }
};

/// x, (n, d), coded for add_rows, or for changes by id, as the index's state is now. Without codes
/// for an index that is none of our specs and no inverted file of one, while rows are kept as
/// floats, and where the codec has coded nothing yet.
CodedRows code_rows(const ::faiss::Index& index, idx_t n, const float* x);

}  // namespace polarquant
