// SPDX-License-Identifier: MIT
// The k nearest of float vectors, exactly: what recall is counted against. Sums are in double and
// in one stated order (codec/dot.h), so that every machine and number of threads finds the same.
#pragma once

#include <cstdint>
#include <functional>

#include "src/codec/factors.h"

namespace polarquant {

/// Rows and what is looked for among them; borrowed.
struct RowsAndQueries {
  Metric metric;
  int dim;
  int64_t n;
  const float* x;  // (n, dim)
  int64_t nq;
  const float* queries;  // (nq, dim)
};

/// ids, (nq, k): for each query the k rows with the largest inner product or, for L2, the least
/// distance; best first, ties to the lower id. 1 ≤ k ≤ n.
/// Cosine is inner product over rows that the caller has normalized. `advance` hears how many
/// queries more are done, from any thread; may be empty. Cost: O(nq·n·dim) in double; memory of the
/// rows' norms.
void exact_search(const RowsAndQueries& vectors, int64_t k, int threads,
                  const std::function<void(int64_t queries)>& advance, int64_t* ids);

/// The distance of a row, (dim), from a query as exact_search compares them: less is nearer, and
/// equal rows are equally near.
double exact_cost(Metric metric, int dim, const float* query, const float* row);

}  // namespace polarquant
