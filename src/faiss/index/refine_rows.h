// SPDX-License-Identifier: MIT
// The second step of a refinement: the rows that the first found, scored again.
#pragma once

#include <faiss/IndexRefine.h>

#include <functional>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// search(k, distances, labels): finds k candidates of each query.
using FindCandidates = std::function<void(idx_t k, float* distances, idx_t* labels)>;

/// How many rows of a query the first step finds, for the k best of `rows`.
idx_t refined_rows(idx_t k, double k_factor, idx_t rows);

/// The k best, by the refining index, of the k·k_factor that `find` finds. Ties: lower id first.
void refine_rows(const ::faiss::IndexRefine& index, idx_t n, const float* x, idx_t k,
                 double k_factor, const FindCandidates& find, float* distances, idx_t* labels);

}  // namespace polarquant
