// SPDX-License-Identifier: MIT
// Rows of one byte a coordinate as floats, for exact scores of a few rows: split levels
// (level_planes.h) without the bytes between.
#pragma once

#include "src/scan/layout/block_layout.h"

namespace polarquant {

/// y, (dim) := the levels of a row whose layout splits them; `levels`: all 256, of which 255 − b is
/// minus b.
void decode_split_levels(const BlockLayout& layout, const RowPlace& at, const float* levels,
                         float* y);

}  // namespace polarquant
