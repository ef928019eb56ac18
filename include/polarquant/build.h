/* SPDX-License-Identifier: MIT */
/* Index files of more rows than memory holds: built in parts, merged, and searched in shards.
 * polarquant.h has the rules for every function. */
#ifndef POLARQUANT_BUILD_H
#define POLARQUANT_BUILD_H

#include "polarquant/files.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Index files in shards ------------------------------------------------------------------ */
/* For indexes of our specs, alone ("Polar4") and in inverted files ("IVF1024,Polar4"), also after
 * vector transforms, in id maps and in refinements by our specs ("Polar2,Refine(Polar8)").
 * POLAR_ERROR_UNSUPPORTED for others: graphs need all rows at once, and so do FAISS's kinds. */

/*
 * Merges the index files at these paths, (n), n ≥ 1, into one at `out`, which may be one of them
 * but on Windows (POLAR_ERROR_IO there, and nothing changes): the same bytes, after equal training,
 * as one index has that was given all rows in this order, and saved; but a BLAS may round vector
 * transforms ("PCA64,Polar4") otherwise for another number of rows. Ids of the caller's stay and
 * must differ (POLAR_ERROR_BAD_ARGUMENT names one that comes twice), other rows are numbered on.
 * Codes must be made alike: POLAR_ERROR_STATE_MISMATCH names the file and the part that differs;
 * train once and give all shards that state (polar_index_clone). Parameters, as nprobe, are those
 * of the first file. Files without rows are fine; rows kept as floats, of an index that was never
 * trained, are refused. `out` appears whole or not at all, as by polar_index_save. Memory: what was
 * trained, twice, the largest list's ids, a bit a row, and of flat indexes with ids of the caller's
 * 20 bytes a row; files are mapped and read through, with up to 32 MiB of their pages in memory at
 * a time. options: NULL for the defaults; num_threads is not used.
 */
POLAR_API polar_status polar_merge_files(int64_t n, const char* const* paths, const char* out,
                                         const polar_work_options* options);

/*
 * The index files at these paths, (n), n ≥ 1, as one index, with the answers, to the bit, of the
 * file that polar_merge_files makes of them. They are mapped, and must stay as polar_load_options
 * says of memory_map; the index cannot be changed, but saved and cloned. Rows are verified when
 * they are first used; ids that two files have are found by polar_index_verify, and by saving.
 * Errors as those of polar_merge_files; besides, flat codes that do not lie in blocks (those of the
 * published codecs) are not searched. Memory: what was trained, ids of the lists that are searched,
 * 8 bytes each, and of flat indexes with ids of the caller's 20 bytes a row.
 */
POLAR_API polar_status polar_index_open_shards(int64_t n, const char* const* paths,
                                               polar_index** out);

/* *out: an index without rows, in memory, that codes as the one in the file at `path` does: for
 * shards whose rows mix with the file's. Of the kinds above. The file's rows are not read. */
POLAR_API polar_status polar_index_load_empty(const char* path, polar_index** out);

/* ---- Shards in several processes ------------------------------------------------------------ */
/* Where all shards are too large for one machine, each process opens some of them
 * (polar_index_open_shards), searches these, and sends what it found, as bytes, to one that makes
 * the answer of all: to the bit that of one index with all rows. For indexes of our specs, alone
 * and in inverted files, also after vector transforms and in id maps; not for refinements. */

/* *bytes: the most that the partial result of nq queries and the k best has. */
POLAR_API polar_status polar_index_partial_bytes(const polar_index* index, int64_t nq, int64_t k,
                                                 size_t* bytes);
/*
 * Searches a part of an index for what polar_index_search finds in all of it, and writes the
 * partial result to `partial`, of `capacity` bytes, and its size to *bytes. first_row: how many
 * rows the parts before have; ids that are positions, and a filter over them, are the whole's.
 * Arguments, errors and threads as of polar_index_search; besides, POLAR_ERROR_UNSUPPORTED for a
 * filter over an inverted file, whose lists are chosen by what the filter keeps of all parts:
 * search these by polar_index_search, and take the best of all.
 */
POLAR_API polar_status polar_index_search_partial(const polar_index* index, int64_t first_row,
                                                  int64_t nq, const float* queries, int64_t k,
                                                  const polar_search_options* options,
                                                  size_t capacity, uint8_t* partial, size_t* bytes);
/*
 * The answer of the whole from the partial results of its parts, (n), n ≥ 1, in the order of their
 * rows, to the same queries: scores and ids, (nq, k), as polar_index_search writes them. bytes:
 * (n), the sizes. POLAR_ERROR_BAD_ARGUMENT for partial results of another nq or k,
 * POLAR_ERROR_STATE_MISMATCH for those of different kinds of indexes, POLAR_ERROR_CORRUPT_DATA for
 * other bytes.
 */
POLAR_API polar_status polar_merge_partials(int64_t n, const uint8_t* const* partials,
                                            const size_t* bytes, int64_t nq, int64_t k,
                                            float* scores, int64_t* ids);

/* ---- Builds in parts ------------------------------------------------------------------------ */
/*
 * Builds an index file from rows that come in any number of calls. Rows are coded in an index in
 * memory; when it has taken memory_bytes, it is written as a part, a whole index file with
 * checksums, and emptied. polar_builder_finish merges the parts. Parts lie in the folder
 * "PATH.parts" beside the index file. They stay when the builder, or the process, ends before that:
 * polar_builder_resume goes on after the last of them.
 * One thread at a time may use a builder, and one builder a folder: a second one, of another
 * process too, is refused with POLAR_ERROR_IO while the first lives.
 */
typedef struct polar_builder polar_builder;

typedef struct polar_builder_options {
  uint32_t struct_size; /* sizeof(polar_builder_options), set by polar_builder_options_init */
  /* 1: parts of an earlier build in the folder are removed, not refused. Of polar_builder_create.
   * Default 0. */
  int32_t replace;
  /* Memory for rows of a part, 1 MiB or more; what was trained, and the floats of a call, come on
   * top. Memory of many small lists is not packed tightly: leave as much again to the process.
   * Default 1 GiB. */
  int64_t memory_bytes;
} polar_builder_options;

/* As polar_builder_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_builder_options_init_sized(polar_builder_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_builder_options_init(polar_builder_options* options) {
  polar_builder_options_init_sized(options, sizeof *options);
}

/*
 * Begins the file at `path` with rows coded as `index` codes them: a trained one without rows, of
 * which a copy is kept, in the folder too. POLAR_ERROR_NOT_TRAINED for one that was not trained,
 * also where training is optional: parts would learn from different rows. POLAR_ERROR_BAD_ARGUMENT
 * where the folder has parts of an earlier build, unless options->replace is 1. options: NULL for
 * the defaults, here and below. An index file at `path` stays as it is until the new one is whole.
 */
POLAR_API polar_status polar_builder_create(const polar_index* index, const char* path,
                                            const polar_builder_options* options,
                                            polar_builder** out);
/*
 * Goes on with the build whose parts lie beside `path`: polar_builder_ntotal then tells after which
 * rows, which are those of whole parts. POLAR_ERROR_NOT_FOUND where there is none.
 * POLAR_ERROR_CORRUPT_DATA names a part that is missing, damaged where it is looked at (its rows
 * are verified by finish), or of another state.
 */
POLAR_API polar_status polar_builder_resume(const char* path, const polar_builder_options* options,
                                            polar_builder** out);
/* NULL is fine. Parts that were written stay; rows that were not are lost. */
POLAR_API void polar_builder_destroy(polar_builder* builder);

/* Adds n ≥ 0 rows, (n, dim), with ids ntotal, ntotal + 1, … After an error, in writing a part too,
 * the rows that polar_builder_ntotal counts are in the builder. */
POLAR_API polar_status polar_builder_add(polar_builder* builder, int64_t n, const float* x,
                                         const polar_work_options* options);
/* The same with ids of the caller's, (n), each ≥ 0. Those that come twice are found within a part
 * by this call, else by polar_builder_finish. A builder takes rows with ids or without, not both.
 */
POLAR_API polar_status polar_builder_add_with_ids(polar_builder* builder, int64_t n, const float* x,
                                                  const int64_t* ids,
                                                  const polar_work_options* options);
/* Writes the rows in memory as a part, as before a stop that is to lose none. */
POLAR_API polar_status polar_builder_write_part(polar_builder* builder);
/*
 * Writes the index file, as polar_merge_files does, and removes the folder of parts. The builder
 * can then only be destroyed. After an error, or a stop by options->progress, the parts are there
 * still, and it can be called again.
 */
POLAR_API polar_status polar_builder_finish(polar_builder* builder,
                                            const polar_work_options* options);

/* Dimensions of a vector. 0 for NULL. */
POLAR_API int32_t polar_builder_dim(const polar_builder* builder);
/* Rows that were added, those of an earlier process's parts too. 0 for NULL. */
POLAR_API int64_t polar_builder_ntotal(const polar_builder* builder);
/* The rows of them that lie in whole parts. 0 for NULL. */
POLAR_API int64_t polar_builder_written(const polar_builder* builder);

#ifdef __cplusplus
}
#endif

#endif
