// SPDX-License-Identifier: MIT
// Rows that are not coded yet, and searched exactly: an index that was never trained keeps them
// until they are enough to learn a codec's centre and unit from.
#pragma once

#include <memory>
#include <vector>

#include "src/scan/stores/row_store.h"

namespace polarquant {

/// A store of rows (rows, dim), which the codec could encode; of cosine they are normalized, as
/// queries must be. They need nothing of the codec but its dim and metric. get, append_codes and
/// overwrite, which need codes, throw. `read_only`: as rows of a mapped file.
std::unique_ptr<RowStore> make_float_row_store(int dim, std::vector<float> rows = {},
                                               bool read_only = false);

/// Throws bad_argument, naming the row, unless such a store takes rows x, (n, dim): finite ones
/// that are not too long for scores.
void require_float_rows(int dim, int64_t n, const float* x);

}  // namespace polarquant
