// SPDX-License-Identifier: MIT
// How an IndexPolar's rows lie in memory.
#pragma once

#include "polarquant/faiss.h"
#include "src/scan/block_layout.h"

namespace polarquant {

inline RowOrder row_order(const IndexPolar::Options& options) {
  return options.single_rows ? RowOrder::single : RowOrder::blocks;
}

}  // namespace polarquant
