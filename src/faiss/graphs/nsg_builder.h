// SPDX-License-Identifier: MIT
// The links of an NSG graph: the algorithm of Fu, Xiang, Wang and Cai (VLDB 2019) as FAISS has it,
// in a time that the number of rows bounds; the call can be stopped.
//
// FAISS's never ends where many rows are equal: it links rows without links from a row of the tree
// that has a free link, which it goes on drawing at random when there is none. Equal rows fill each
// other's links. Here a row links to one equal row at most, and a row that finds no free link is
// put between two that are linked.
#pragma once

#include <faiss/IndexNSG.h>

#include <vector>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

/// Puts n ≥ 1 rows, x (n, d), into the storage of an empty index and builds its graph. The index is
/// empty after an error.
void build_nsg(::faiss::IndexNSG& index, idx_t n, const float* x);

/// Builds the graph of the rows that the storage holds anew, from their reconstructions; no effect
/// where they are fewer than one is built of. Unchanged after an error.
void rebuild_nsg(::faiss::IndexNSG& index);

/// build_nsg for one of FAISS's own, with the checks of an add.
void add_to_nsg(::faiss::IndexNSG& index, idx_t n, const float* x);

}  // namespace polarquant
