// SPDX-License-Identifier: MIT
// Memory for a call into FAISS, asked for before it. FAISS's loops over OpenMP's threads take
// memory, and an exception that would leave such a loop ends the process. So before a call whose
// loops do, a block of the most that the call takes is allocated and given back: where memory is
// short, that fails, and nothing has begun.
//
// The bounds follow what FAISS's classes are declared to hold for a query, a thread and a row of
// training, with all stages added up. A test runs each call under every limit of memory up to its
// peak. What another thread of the process takes meanwhile is not seen.
//
// Without a bound of their own are additive quantizers ("RQ…", "LSQ…", "PLSQ…"), lattices and
// multi-indexes ("IMI…"): a rule of thumb stands for them.
#pragma once

#include <faiss/Index.h>

#include "src/faiss/foreign/faiss_compat.h"

namespace polarquant {

// Each throws bad_alloc where memory is short of the most that FAISS takes, with the threads that
// OpenMP's setting gives it.

/// For index.search(n, x, k), or assign with k = 1; nprobe counts in inverted files, 0 for theirs.
void require_search_memory(const ::faiss::Index& index, idx_t n, idx_t k, idx_t nprobe = 0);

/// How much of index.range_search of n queries there is memory for at once. FAISS finds the same
/// bits in parts of a flat index, and in all others but for sums of fewer than 20 queries.
struct RangePart {
  idx_t queries;
  idx_t rows;  // all of them, or some of a flat index
};
RangePart part_of_range_search(const ::faiss::Index& index, idx_t n, idx_t nprobe);

/// For index.train(n, x).
void require_training_memory(const ::faiss::Index& index, idx_t n);

/// For index.add(n, x) to packed codes ("PQ4x4fs", "IVF4,PQ4x4fs"), but for what these themselves
/// grow by, which FAISS takes outside its loops.
void require_packing_memory(const ::faiss::Index& index, idx_t n);

}  // namespace polarquant
