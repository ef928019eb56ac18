// SPDX-License-Identifier: MIT
// Rows that come into an index, go from it and move from one to another, through the containers
// around it. What fails, out of memory among it, changes nothing. FAISS's own containers keep what
// they did before a failure: rows that nobody counts, ids without rows, another index emptied; give
// merged rows of an inverted file in an id map the ids of others; and end the process where memory
// runs out in their parallel loops.
//
// Where a loop of FAISS's stays, memory for it is asked for before (foreign/memory_check.h).
#pragma once

#include <faiss/Index.h>

#include "src/faiss/foreign/faiss_compat.h"
#include "src/faiss/index/coded_rows.h"

namespace faiss {
struct IndexHNSW;
struct IndexIVF;
struct IndexRefine;
}  // namespace faiss

namespace polarquant {

/// index.add, or add_with_ids where ids, (n), is not null. Who calls these has checked the rows
/// (row_checks.h), once for all parts of the index. `coded`: x by code_rows, in the same state.
void add_rows(::faiss::Index& index, idx_t n, const float* x, const idx_t* ids,
              const CodedRows& coded = {});
/// As polarquant::update_vectors and, where adds_others, upsert_vectors (faiss.h).
void put_rows(::faiss::Index& index, idx_t n, const idx_t* keys, const float* x, bool adds_others,
              const CodedRows& coded = {});
void add_to_graph(::faiss::IndexHNSW& graph, idx_t n, const float* x);
/// Puts x, (n, d), in the place of the rows at these positions, (n); the last of equal ones counts.
void update_graph(::faiss::IndexHNSW& graph, idx_t n, const idx_t* positions, const float* x);
void add_to_refinement(::faiss::IndexRefine& index, idx_t n, const float* x);

/// Whether the ids of rows of an index are its own, counted from 0 where nobody gave any: of an
/// inverted file, also after transforms.
bool counts_rows(const ::faiss::Index& index);

/// index.remove_ids.
size_t remove_rows(::faiss::Index& index, const ::faiss::IDSelector& sel);

/// Throws unless rows of `other` mix with those of `index`; unlike FAISS's own, whatever maps from
/// ids to rows their inverted files keep.
void require_mergeable(const ::faiss::Index& index, const ::faiss::Index& other);

/// Moves all rows of `other` after those of `index`; rows that have ids get them add_id larger.
/// `other` is empty afterwards, and both can be used as before. Throws state_mismatch for indexes
/// that do not mix, unsupported for kinds whose rows cannot be moved.
void merge_rows(::faiss::Index& index, ::faiss::Index& other, idx_t add_id);

/// The same of inverted files that require_mergeable let pass, with the map from ids to rows that
/// `index` keeps, or, while it has no rows, the other's.
void merge_lists(::faiss::IndexIVF& index, ::faiss::IndexIVF& other, idx_t add_id);

}  // namespace polarquant
