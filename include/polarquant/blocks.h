/* SPDX-License-Identifier: MIT */
/* Codes in blocks, in memory of the caller's. polarquant.h has the rules for every function. */
#ifndef POLARQUANT_BLOCKS_H
#define POLARQUANT_BLOCKS_H

#include "polarquant/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Blocks --------------------------------------------------------------------------------- */

/*
 * Codes in blocks of 64 rows, as an index keeps them, in memory of the caller's: what searches read
 * fastest (docs/search.md; docs/format.md has the bytes). For codecs of Polar0.5 to Polar8 and
 * residual codes; POLAR_ERROR_UNSUPPORTED for the others. Changes need sole use of the blocks; a
 * call that fails changes nothing but where it says so.
 */
typedef struct polar_blocks {
  int64_t rows;  /* held; 0 to begin with, and kept by the calls that change them */
  uint8_t* data; /* on a 64-byte boundary */
  size_t bytes;  /* that data has room for: at least polar_blocks_bytes of the rows after a call */
} polar_blocks;

/* *bytes: what blocks of n ≥ 0 rows take, with what a search may read after them. */
POLAR_API polar_status polar_blocks_bytes(const polar_codec* codec, int64_t n, size_t* bytes);
/* Packs n codes after the rows held, which become n more. */
POLAR_API polar_status polar_blocks_append(const polar_codec* codec, polar_blocks* blocks,
                                           int64_t n, const uint8_t* codes, size_t codes_bytes);
/* The codes of `count` rows from row `first` on, exactly as they were packed. */
POLAR_API polar_status polar_blocks_get(const polar_codec* codec, const polar_blocks* blocks,
                                        int64_t first, int64_t count, uint8_t* codes,
                                        size_t codes_bytes);
/* One code in the place of row `row`. */
POLAR_API polar_status polar_blocks_overwrite(const polar_codec* codec, polar_blocks* blocks,
                                              int64_t row, const uint8_t* code, size_t code_bytes);
/* Takes out the rows whose bit is 1, bit row%64 of word row/64 of ⌈rows/64⌉ words; the others keep
 * their order. */
POLAR_API polar_status polar_blocks_remove(const polar_codec* codec, polar_blocks* blocks,
                                           const uint64_t* removed);
/* The last row takes the place of row `row`; rows become one less. */
POLAR_API polar_status polar_blocks_swap_remove(const polar_codec* codec, polar_blocks* blocks,
                                                int64_t row);
/* As polar_codec_search. */
POLAR_API polar_status polar_blocks_search(const polar_codec* codec, const polar_blocks* blocks,
                                           int64_t nq, const float* queries, int64_t k,
                                           const polar_search_options* options, float* scores,
                                           int64_t* ids);
/* As polar_codec_range_search. */
POLAR_API polar_status polar_blocks_range_search(const polar_codec* codec,
                                                 const polar_blocks* blocks, int64_t nq,
                                                 const float* queries, float radius,
                                                 const polar_search_options* options,
                                                 int64_t capacity, int64_t* lims, float* scores,
                                                 int64_t* ids);

/* ---- Blocks that are not in memory together ------------------------------------------------- */
/* Rows in several blocks, each of which is read when its turn comes. Searches within a radius need
 * no more than polar_blocks_range_search of each, and sorting; of the k best each gives a partial
 * result, and polar_merge_partials (build.h) makes the answer of these, to the bit what
 * polar_blocks_search finds in all rows. */

/* *bytes: the most that the partial result of nq queries and the k best has. */
POLAR_API polar_status polar_blocks_partial_bytes(const polar_codec* codec,
                                                  const polar_blocks* blocks, int64_t nq, int64_t k,
                                                  size_t* bytes);
/*
 * Writes what polar_merge_partials needs of these blocks to `partial`, of `capacity` bytes, and its
 * size to *bytes. first_row: how many rows the blocks before have; ids are positions in all rows,
 * and so a filter's. Arguments, errors and threads as of polar_blocks_search.
 */
POLAR_API polar_status polar_blocks_search_partial(const polar_codec* codec,
                                                   const polar_blocks* blocks, int64_t first_row,
                                                   int64_t nq, const float* queries, int64_t k,
                                                   const polar_search_options* options,
                                                   size_t capacity, uint8_t* partial,
                                                   size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
