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
 * residual codes; POLAR_ERROR_UNSUPPORTED for the others. The caller keeps the number of rows.
 * blocks: on a 64-byte boundary; blocks_bytes: what it has room for, at least polar_blocks_bytes of
 * the rows after the call. Changes need sole use of the blocks; a call that fails changes nothing
 * but where it says so.
 */

/* *bytes: what blocks of n ≥ 0 rows take, with what a search may read behind them. since 0.1 */
POLAR_API polar_status polar_blocks_bytes(const polar_codec* codec, int64_t n, size_t* bytes);
/* Packs n codes behind the `rows` rows held, which become rows + n. since 0.1 */
POLAR_API polar_status polar_blocks_append(const polar_codec* codec, int64_t n,
                                           const uint8_t* codes, size_t codes_bytes, int64_t rows,
                                           uint8_t* blocks, size_t blocks_bytes);
/* The codes of `count` rows from row `first` on, exactly as they were packed. since 0.1 */
POLAR_API polar_status polar_blocks_get(const polar_codec* codec, int64_t rows,
                                        const uint8_t* blocks, size_t blocks_bytes, int64_t first,
                                        int64_t count, uint8_t* codes, size_t codes_bytes);
/* One code in the place of row `row`. since 0.1 */
POLAR_API polar_status polar_blocks_overwrite(const polar_codec* codec, const uint8_t* code,
                                              size_t code_bytes, int64_t rows, uint8_t* blocks,
                                              size_t blocks_bytes, int64_t row);
/* Takes out the rows whose bit is 1, bit row%64 of word row/64 of ⌈rows/64⌉ words; the others keep
 * their order. *left: rows that stay. since 0.1 */
POLAR_API polar_status polar_blocks_remove(const polar_codec* codec, const uint64_t* removed,
                                           int64_t rows, uint8_t* blocks, size_t blocks_bytes,
                                           int64_t* left);
/* The last row takes the place of row `row`; rows become rows − 1. since 0.1 */
POLAR_API polar_status polar_blocks_swap_remove(const polar_codec* codec, int64_t row, int64_t rows,
                                                uint8_t* blocks, size_t blocks_bytes);
/* As polar_codec_search_with_options. since 0.1 */
POLAR_API polar_status polar_blocks_search(const polar_codec* codec, int64_t nq,
                                           const float* queries, int64_t rows,
                                           const uint8_t* blocks, size_t blocks_bytes, int64_t k,
                                           const polar_search_options* options, float* scores,
                                           int64_t* ids);

#ifdef __cplusplus
}
#endif

#endif
