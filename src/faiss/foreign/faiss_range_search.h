// SPDX-License-Identifier: MIT
// Range searches of FAISS's own indexes, in parts that there is memory for (memory_check.h): some
// queries at a time, and in flat indexes some rows, which changes no bit of what is found.
#pragma once

#include <faiss/IndexIVF.h>

#include "src/faiss/foreign/faiss_compat.h"

namespace faiss {
struct RangeSearchResult;
}  // namespace faiss

namespace polarquant {

/// index.range_search(n, x, radius, result), in an inverted file with params, which may be null.
void search_range_in_parts(const ::faiss::Index& index, idx_t n, const float* x, float radius,
                           const ::faiss::SearchParametersIVF* params,
                           ::faiss::RangeSearchResult* result);

}  // namespace polarquant
