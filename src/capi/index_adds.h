// SPDX-License-Identifier: MIT
// Rows of callers into an index: polar_index_add and polar_index_add_with_ids within their guard.
#pragma once

#include <cstdint>

#include "src/capi/index_handle.h"

namespace polarquant::capi {

void add_rows(polar_index* index, int64_t n, const float* x);
void add_rows_with_ids(polar_index* index, int64_t n, const float* x, const int64_t* ids);

}  // namespace polarquant::capi
