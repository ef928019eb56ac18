// SPDX-License-Identifier: MIT
// Codes with int8 values, row by row: the memory of a graph's nodes. All that a score reads of a
// row lies in one place, 196 bytes in four cache lines for Polar4 at 384 dimensions, where a
// block's row lies in nine. Searches of all rows unpack them to the row format first.
#pragma once

#include <memory>

#include "src/scan/stores/row_store.h"

namespace polarquant {

/// For codecs that ScanCodec supports.
std::unique_ptr<RowStore> make_single_row_store(const Codec& codec);

}  // namespace polarquant
