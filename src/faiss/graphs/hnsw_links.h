// SPDX-License-Identifier: MIT
// The links of rows that come into an HNSW graph: FAISS's algorithm, to the same graph where one
// thread makes it. FAISS's own ends the process where memory runs out in its parallel loop, and
// leaves rows without links, which searches then read, where it runs out before.
//
// It differs in equal rows: FAISS's link only to each other, so that many of them are an island
// that no search leaves, and fill the list of a row's neighbours. Here the first of them represents
// all: the others form a chain after it on level 0, each with links to itself, which marks it, to
// the first, and to the next.
#pragma once

#include <faiss/IndexHNSW.h>

#include <functional>
#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// Links the rows n0 … n0+n−1 that the graph's storage holds, x (n, d), into the graph. Unchanged
/// after an error, out of memory among them: lists of links that change are copied before, each
/// row's once, up to as much memory as the links of all rows take. A thread takes a byte a row
/// besides. By OpenMP's threads; with one of them the result is the same each time.
/// levels: (n) of the rows, or empty: drawn, as FAISS does, unless the graph has them already.
/// finish: called at the end; an error of its own undoes all, too.
void link_rows(::faiss::IndexHNSW& index, idx_t n0, idx_t n, const float* x,
               const std::vector<int>& levels = {}, const std::function<void()>& finish = {});

}  // namespace polarquant
