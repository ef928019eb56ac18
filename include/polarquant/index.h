/* SPDX-License-Identifier: MIT */
/* Indexes, which store the codes themselves. polarquant.h has the rules for every function. */
#ifndef POLARQUANT_INDEX_H
#define POLARQUANT_INDEX_H

#include "polarquant/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Index ---------------------------------------------------------------------------------- */
/* Needs a library built with FAISS; without it each call returns POLAR_ERROR_UNSUPPORTED. */

/* Vectors stored as codes, searched by the k nearest. */
typedef struct polar_index polar_index;

/*
 * description: one of our specs, alone ("Polar2") or in a FAISS factory string ("PCA128,Polar4",
 * "Polar2,RFlat"), or any FAISS string whose numbers are 1 or more. Cosine: rows and queries are
 * normalized on the way in (zero stays zero) to an index of inner products. dim: 1 to 65535.
 */
POLAR_API polar_status polar_index_create(const char* description, int32_t dim, polar_metric metric,
                                          polar_index** out);
/* NULL is fine. */
POLAR_API void polar_index_destroy(polar_index* index);

/* Learns what the index needs from n ≥ 1 rows, (n, dim), forgetting what it learned before.
 * options: NULL for the defaults, here and below. An
 * inverted file needs a row for each list, better 39; a product quantizer as many for each of its
 * 2^bits centroids; POLAR_ERROR_BAD_ARGUMENT for fewer. POLAR_ERROR_STATE_MISMATCH once it holds
 * rows, but for those that one of our specs alone still keeps as floats (polar_index_add), which
 * are coded then. FAISS's polysemous training of product quantizers ("PQ8") is left out, as "np"
 * does. */
POLAR_API polar_status polar_index_train(polar_index* index, int64_t n, const float* x,
                                         const polar_work_options* options);
/* Adds n ≥ 0 rows, (n, dim), with ids ntotal, ntotal + 1, … A row that is refused leaves the index
 * as it was; so does a lack of memory.
 * An index of one of our specs, alone or in containers and graphs, that was not trained keeps its
 * rows as floats, and searches them exactly, until they are 1,000: from these, and from all others
 * of the add or merge that brings them there, it learns its codes' centre and unit, and codes them.
 * So recall does not depend on the pieces in which rows come. */
POLAR_API polar_status polar_index_add(polar_index* index, int64_t n, const float* x,
                                       const polar_work_options* options);
/* Adds n ≥ 0 rows with ids of the caller's, (n), each ≥ 0 and not in the index yet. An index takes
 * rows with ids or rows without, not both. POLAR_ERROR_UNSUPPORTED for a FAISS index that takes
 * none; ",IDMap2" after its description gives it ids. */
POLAR_API polar_status polar_index_add_with_ids(polar_index* index, int64_t n, const float* x,
                                                const int64_t* ids,
                                                const polar_work_options* options);
/*
 * The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k), best first, ties as
 * FAISS leaves them, by lower row in an index that is one of our specs alone; id −1 with score −inf
 * (inner product, cosine) or +inf (L2) where there are fewer. k ≥ 1. options: NULL for the
 * defaults; POLAR_ERROR_UNSUPPORTED, naming the option, for one that the index has no use for, and
 * for a filter of the few FAISS indexes whose rows are neither filtered by FAISS nor scored one by
 * one.
 */
POLAR_API polar_status polar_index_search(const polar_index* index, int64_t nq,
                                          const float* queries, int64_t k,
                                          const polar_search_options* options, float* scores,
                                          int64_t* ids);
typedef struct polar_index_info {
  uint32_t struct_size; /* set by the caller to sizeof(polar_index_info) before the call */
  int32_t dim;          /* dimensions of a vector */
  polar_metric metric;  /* POLAR_METRIC_… */
  int32_t is_trained;   /* 1 when rows can be added, 0 when train must come first */
  int64_t ntotal;       /* rows held */
} polar_index_info;

/* Fills *info up to its struct_size; what the library does not know becomes 0. */
POLAR_API polar_status polar_index_get_info(const polar_index* index, polar_index_info* info);
/* Copies the description, as polar_last_error copies its text; 0 for a NULL index. */
POLAR_API size_t polar_index_description(const polar_index* index, char* buf, size_t cap);
/*
 * Tells what polar_index_search would do for nq queries, 1 to 2^40, k ≥ 1 and these
 * options, NULL for the defaults: how it scans, rows, stages, and about how many bytes it reads.
 * Nothing is searched. Lines of text for people, "scan: …" and so on; their words may change.
 * Copied as polar_last_error copies its text; *needed becomes the whole text's length. Errors as
 * those of the search.
 */
POLAR_API polar_status polar_index_explain(const polar_index* index, int64_t nq, int64_t k,
                                           const polar_search_options* options, char* buf,
                                           size_t cap, size_t* needed);
/*
 * All rows within a radius of each of nq ≥ 0 queries, (nq, dim): score > radius (inner product,
 * cosine) or squared distance < radius (L2). lims, (nq + 1): rows lims[q] … lims[q+1] − 1 are those
 * of query q, best first, ties by lower row, where one of our specs finds them, in FAISS's order
 * else. scores and ids, (capacity): the rows below capacity, of all queries together, are written;
 * lims always tells how many there are. Two calls, the first with capacity 0 (scores and ids may
 * then be NULL), get all of them, at the cost of two searches.
 * options: NULL for the defaults. At finite exactness a few rows near the radius are left out; +inf
 * finds every row. A graph of our specs finds those that it comes to from the nearest by way of
 * rows within the radius: nearly all. Of a refinement the refining codes say what is within the
 * radius; they score the rows that the other index finds within a wider one, exactness times as far
 * beyond as the two scores differ, and its 64 nearest: nearly all, and every row at +inf.
 * POLAR_ERROR_UNSUPPORTED for an index without range search (FAISS's graphs, scalar and product
 * quantizers), also in refinements. Memory: 16 bytes a row found, besides, of refinements 12 more a
 * row scored; filters of FAISS's own indexes are applied to what is found without.
 */
POLAR_API polar_status polar_index_range_search(const polar_index* index, int64_t nq,
                                                const float* queries, float radius,
                                                const polar_search_options* options,
                                                int64_t capacity, int64_t* lims, float* scores,
                                                int64_t* ids);

/*
 * Changes of rows held, one at a time. Searches run beside a change while it codes rows, in indexes
 * that are one of our specs or an inverted file of one; it then waits for the searches that run,
 * which see nothing of it, and takes a microsecond or two a row. Searches that come meanwhile go
 * after it, before the next change, and see all of it. Other kinds of indexes, and an index whose
 * first rows are kept as floats, are not searched while they change.
 * A callback may make const calls on the index that calls it; a change from there is refused.
 */

/* Removes the rows with these ids, (n), in any order; ids that are not held are passed over.
 * *removed, unless NULL: rows that went. Rows without ids of the caller's keep their order and are
 * numbered anew, from 0; where an index cannot do that (inverted files alone, id maps), and where
 * it cannot remove at all (FAISS's NSG and packed lists), POLAR_ERROR_UNSUPPORTED. A refinement
 * removes what both its indexes can. Of rows with ids the last ones take the places, which matters
 * for nothing but ties. Cost: with ids of the caller's, in an index that is one of our specs or an
 * inverted file of them, about a microsecond a row that goes; of an HNSW graph of our codes in an
 * id map, in a call for one row, about as much as a row that comes; else a pass over all rows, of a
 * graph over all links too, so that many in one call cost less. Memory is given back. */
POLAR_API polar_status polar_index_remove(polar_index* index, int64_t n, const int64_t* ids,
                                          int64_t* removed);
/* The same for the rows that a search with this filter would find among, which must not be of
 * POLAR_FILTER_NONE. */
POLAR_API polar_status polar_index_remove_filtered(polar_index* index, const polar_filter* filter,
                                                   int64_t* removed);
/* Codes x, (n, dim), in the place of the rows with these ids, (n); of equal ids the last counts.
 * POLAR_ERROR_NOT_FOUND when an id is not in the index; POLAR_ERROR_UNSUPPORTED unless the index is
 * one of our specs, also in id maps, an inverted file or graph of one, or a refinement of
 * these; also after vector transforms. Cost: that of adding the rows, in graphs of removing as
 * many, too, in refinements of inverted files of a pass over all ids. */
POLAR_API polar_status polar_index_update(polar_index* index, int64_t n, const int64_t* ids,
                                          const float* x, const polar_work_options* options);
/* The same, but rows whose ids, each ≥ 0, are not in the index are added. For an index whose rows
 * have ids of the caller's; POLAR_ERROR_UNSUPPORTED for id maps too. */
POLAR_API polar_status polar_index_upsert(polar_index* index, int64_t n, const int64_t* ids,
                                          const float* x, const polar_work_options* options);
/*
 * Builds the links of NSG graphs of our specs, wherever they are in the index, anew from their
 * rows' codes: after many rows went or were updated, searches find as much as in a graph that was
 * built of the rows held. Graphs of fewer rows than NSG is built of keep their links. Other indexes
 * keep nothing of rows that went, and are left as they are. Cost: that of building the graph. An
 * error leaves the index as it was.
 */
POLAR_API polar_status polar_index_compact(polar_index* index, const polar_work_options* options);
/* Moves all rows of `other` after those of `index`; `other` is empty afterwards and stays usable.
 * Ids of the caller's stay and must differ, other rows are numbered on. Both must be made and
 * trained alike: POLAR_ERROR_STATE_MISMATCH, with the part that differs, when their codes do not
 * mix (train before sharding, or give all shards one state). Rows that `other` keeps as floats are
 * added; an index of our specs that learned nothing yet takes over what the codes of `other` are
 * made by, and codes by it what it holds. POLAR_ERROR_UNSUPPORTED for kinds whose rows cannot be
 * moved: graphs, refinements, FAISS's packed lists. An error leaves both as they were. */
POLAR_API polar_status polar_index_merge(polar_index* index, polar_index* other,
                                         const polar_work_options* options);

/* Inverted files, "IVF1024,Polar4" and FAISS's own, also after transforms and in id maps. */

/* Lists of the inverted file. 0 for an index that is none, and for NULL. */
POLAR_API int64_t polar_index_nlist(const polar_index* index);
/* Lists that a search looks through for each query where its options' nprobe is 0: 1 in a new
 * index, as FAISS has it. Files keep it. 0 for an index that is no inverted file, and for NULL. */
POLAR_API int64_t polar_index_nprobe(const polar_index* index);
/* nprobe: 1 or more; beyond the lists there are, all are searched. Training keeps it.
 * POLAR_ERROR_UNSUPPORTED for an index that is no inverted file. */
POLAR_API polar_status polar_index_set_nprobe(polar_index* index, int64_t nprobe);
/*
 * polar_index_train with lists that were made elsewhere: centroids, (nlist, dim), become the lists'
 * in this order, taken as they are, and the code is trained on the n ≥ 1 rows x, (n, dim). nlist:
 * that of the index. For inverted files of our specs alone, whose coarse quantizer takes centroids
 * ("IVF1024,Polar4", "IVF1024_HNSW32,Polar2"); POLAR_ERROR_UNSUPPORTED for others.
 * POLAR_ERROR_STATE_MISMATCH once the index holds rows.
 */
POLAR_API polar_status polar_index_train_with_centroids(polar_index* index, int64_t nlist,
                                                        const float* centroids, int64_t n,
                                                        const float* x,
                                                        const polar_work_options* options);
/*
 * polar_index_add_with_ids into lists of the caller's choice, lists (n), each 0 to nlist − 1, in
 * the place of those whose centroids are nearest. For the indexes of
 * polar_index_train_with_centroids.
 */
POLAR_API polar_status polar_index_add_to_lists(polar_index* index, int64_t n, const float* x,
                                                const int64_t* ids, const int64_t* lists,
                                                const polar_work_options* options);

/* Rows held. 0 for NULL. */
POLAR_API int64_t polar_index_ntotal(const polar_index* index);
/* 1 when rows can be added, 0 when train must come first or index is NULL. */
POLAR_API int32_t polar_index_is_trained(const polar_index* index);
/* Bytes of one stored row's code, in all parts of the index, without ids and graph links.
 * POLAR_ERROR_UNSUPPORTED where rows share codes or FAISS does not tell. */
POLAR_API polar_status polar_index_code_size(const polar_index* index, size_t* bytes);
/* x, (dim): the reconstruction of the row with this id, of its normalized form for cosine;
 * POLAR_ERROR_NOT_FOUND for none, POLAR_ERROR_UNSUPPORTED for an index that keeps no way back from
 * id to row ("IDMap,…" where "IDMap2,…" does). */
POLAR_API polar_status polar_index_reconstruct(const polar_index* index, int64_t id, float* x);
/* *out: an index like this one, in memory, which can be changed. In memory twice meanwhile. */
POLAR_API polar_status polar_index_clone(const polar_index* index, polar_index** out);
/* Memory that the index takes: codes, ids, what was trained; what lies in a mapped file is not
 * counted. FAISS's parts are counted by what they would be saved as. */
POLAR_API polar_status polar_index_memory_bytes(const polar_index* index, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
