/* SPDX-License-Identifier: MIT */
/* The operations that JavaScript calls, by topic; each table ends with a row without a name. */
#ifndef POLARQUANT_NODE_OPERATIONS_H
#define POLARQUANT_NODE_OPERATIONS_H

#include "call.h"

extern const operation codec_operations[];
extern const operation code_operations[];
extern const operation blocks_operations[];
extern const operation index_operations[];
extern const operation index_change_operations[];
extern const operation file_operations[];
extern const operation build_operations[];
extern const operation advice_operations[];
extern const operation cuda_operations[];

/* call->made, an index from files: file_calls.c. */
napi_value give_loaded_index(napi_env env, call* call);

/* What searches and scores share: rows.c. */

/* *n: rows of dim numbers in an array. */
polar_status count_rows(call* call, const char* name, const value* array, int32_t dim, int64_t* n);
/* *n: rows that codes have; wanted: what the caller says, or −1. */
polar_status count_codes(call* call, const char* name, const object* codec, const value* codes,
                         int64_t wanted, int64_t* n);
/* Both arrays of results are (nq, k). */
polar_status check_results(call* call, int64_t nq, int64_t k, const value* scores,
                           const value* ids);
/* One array has as many elements as another thing has rows. */
polar_status check_count(call* call, const char* name, const value* array, int64_t n);

/* One call of a range search: where its results go, and how many fit. */
typedef polar_status (*range_search_fn)(call* call, int64_t nq, int64_t capacity, int64_t* lims,
                                        float* scores, int64_t* ids);
/* Searches until all results fit; outputs are lims, scores and ids. to_double: ids become doubles.
 */
polar_status run_range_search(call* call, int64_t nq, bool to_double, range_search_fn search);
/* {lims, scores, ids} */
napi_value give_ranges(napi_env env, call* call);

#endif
