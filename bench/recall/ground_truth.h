// SPDX-License-Identifier: MIT
// Exact nearest neighbours, by which the recall of all indexes is counted.
#pragma once

#include <cstdint>

#include "bench/recall/matrix.h"

namespace polarquant::bench {

/// The k nearest base rows of each query: largest inner product or, with `l2`, least distance; ties
/// to the lower id. 1 ≤ k ≤ base.rows; dimensions equal.
///
/// Base blocks go through FAISS's matrix product, whose single-precision sums pick k and some more
/// candidates; those are scored again in double and sorted by score, then id. So the order of the
/// product's sums decides nothing, unless more rows than the surplus score within its rounding
/// error of the k-th.
IdMatrix exact_neighbours(const FloatMatrix& base, const FloatMatrix& query, bool l2, int64_t k,
                          const OnProgress& on_progress);

/// What a row is away from a query, both (dim), in double: less is nearer.
double exact_cost(const float* query, const float* row, int64_t dim, bool l2);

}  // namespace polarquant::bench
