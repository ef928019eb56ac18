/* SPDX-License-Identifier: MIT */
/* Codes in blocks: memory that the object owns and grows, changed and searched. */
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "results.h"

#ifdef _WIN32
#include <malloc.h>
#define allocate_aligned(bytes) _aligned_malloc(bytes, 64)
#define free_aligned _aligned_free
#else
#define allocate_aligned(bytes) aligned_alloc(64, bytes)
#define free_aligned free
#endif

/* Capacity for so many rows; a quarter more than there are where it must grow. */
static polar_status reserve(call* call, object* blocks, int64_t rows) {
  const polar_codec* codec = blocks->codec->handle;
  size_t needed = 0, grown = 0;
  uint8_t* data;
  polar_status status = polar_blocks_bytes(codec, rows, &needed);
  if (status != POLAR_OK || needed <= blocks->blocks.bytes) return status;
  if (blocks->blocks.rows > 0) {
    const int64_t more = blocks->blocks.rows + blocks->blocks.rows / 4;
    if (polar_blocks_bytes(codec, more, &grown) == POLAR_OK && grown > needed) needed = grown;
  }
  needed = (needed + 63) / 64 * 64;
  data = allocate_aligned(needed);
  if (data == NULL) return refuse_memory(call, "codes");
  if (blocks->blocks.bytes > 0) memcpy(data, blocks->blocks.data, blocks->blocks.bytes);
  free_aligned(blocks->blocks.data);
  blocks->blocks.data = data;
  blocks->blocks.bytes = needed;
  return POLAR_OK;
}

/* Codecs without blocks are refused. What searches read after the rows is there from the start. */
static polar_status run_create(call* call) {
  size_t bytes = 0;
  polar_status status = polar_blocks_bytes(call->values[0].object->handle, 0, &bytes);
  if (status != POLAR_OK) return status;
  bytes = (bytes + 64) / 64 * 64;
  call->made = allocate_aligned(bytes);
  call->integer = (int64_t)bytes;
  if (call->made == NULL) return refuse_memory(call, "blocks");
  memset(call->made, 0, bytes);
  return POLAR_OK;
}

static napi_value give_blocks(napi_env env, call* call) {
  object* codec = call->values[0].object;
  object* made = object_make(OBJECT_BLOCKS, NULL, codec->dim);
  if (made == NULL) {
    free_aligned(call->made);
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "no memory for an object");
    return NULL;
  }
  made->blocks.data = call->made;
  made->blocks.bytes = (size_t)call->integer;
  object_use(codec);
  made->codec = codec;
  return object_wrap(env, made);
}

static polar_status run_append(call* call) {
  const value* v = call->values;
  object* blocks = v[0].object;
  int64_t n;
  polar_status status = count_codes(call, "codes", blocks->codec, &v[1], -1, &n);
  if (status == POLAR_OK) status = reserve(call, blocks, blocks->blocks.rows + n);
  if (status != POLAR_OK) return status;
  return polar_blocks_append(blocks->codec->handle, &blocks->blocks, n, v[1].data,
                             (size_t)v[1].count);
}

static polar_status check_row(call* call, const object* blocks, int64_t row) {
  if (row >= 0 && row < blocks->blocks.rows) return POLAR_OK;
  refuse(call, "row: %lld is not allowed; 0 to %lld", (long long)row,
         (long long)blocks->blocks.rows - 1);
  return POLAR_ERROR_NOT_FOUND;
}

/* blocks, first, count: −1 for all that follow */
static polar_status run_get(call* call) {
  const value* v = call->values;
  const object* blocks = v[0].object;
  const int64_t first = v[1].count;
  const int64_t count = v[2].count < 0 ? blocks->blocks.rows - first : v[2].count;
  polar_status status;
  if (first < 0 || first > blocks->blocks.rows || count < 0 ||
      count > blocks->blocks.rows - first) {
    return refuse(call, "first: %lld and count: %lld are not allowed; rows are 0 to %lld",
                  (long long)first, (long long)count, (long long)blocks->blocks.rows - 1);
  }
  status = make_output(call, 0, count * (int64_t)blocks->codec->code_bytes, 1);
  if (status != POLAR_OK) return status;
  return polar_blocks_get(blocks->codec->handle, &blocks->blocks, first, count,
                          call->outputs[0].data, (size_t)call->outputs[0].count);
}

static polar_status run_overwrite(call* call) {
  const value* v = call->values;
  object* blocks = v[0].object;
  polar_status status = check_row(call, blocks, v[1].count);
  if (status != POLAR_OK) return status;
  return polar_blocks_overwrite(blocks->codec->handle, &blocks->blocks, v[1].count, v[2].data,
                                (size_t)v[2].count);
}

/* blocks, a byte for each row: 1 for those that go */
static polar_status run_remove(call* call) {
  const value* v = call->values;
  object* blocks = v[0].object;
  const uint8_t* removed = v[1].data;
  const int64_t rows = blocks->blocks.rows;
  uint64_t* words;
  int64_t i;
  polar_status status = check_count(call, "removed", &v[1], rows);
  if (status != POLAR_OK) return status;
  words = call_memory(call, ((size_t)rows / 64 + 1) * sizeof *words);
  if (words == NULL) return refuse_memory(call, "removed");
  memset(words, 0, ((size_t)rows / 64 + 1) * sizeof *words);
  for (i = 0; i < rows; ++i) {
    if (removed[i] != 0) words[i / 64] |= UINT64_C(1) << (i % 64);
  }
  status = polar_blocks_remove(blocks->codec->handle, &blocks->blocks, words);
  call->integer = rows - blocks->blocks.rows;
  return status;
}

static polar_status run_swap_remove(call* call) {
  const value* v = call->values;
  object* blocks = v[0].object;
  polar_status status = check_row(call, blocks, v[1].count);
  if (status != POLAR_OK) return status;
  return polar_blocks_swap_remove(blocks->codec->handle, &blocks->blocks, v[1].count);
}

static polar_status run_rows(call* call) {
  call->integer = call->values[0].object->blocks.rows;
  return POLAR_OK;
}

static polar_status run_bytes(call* call) {
  call->integer = (int64_t)call->values[0].object->blocks.bytes;
  return POLAR_OK;
}

/* blocks, queries, k, scores, ids, options */
static polar_status run_search(call* call) {
  value* v = call->values;
  const object* blocks = v[0].object;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status == POLAR_OK) status = check_results(call, nq, v[2].count, &v[3], &v[4]);
  if (status != POLAR_OK) return status;
  status = polar_blocks_search(blocks->codec->handle, &blocks->blocks, nq, v[1].data, v[2].count,
                               search_of(call), v[3].data, v[4].data);
  return status == POLAR_OK ? finish_ids(call, &v[4]) : status;
}

static polar_status search_range(call* call, int64_t nq, int64_t capacity, int64_t* lims,
                                 float* scores, int64_t* ids) {
  const value* v = call->values;
  const object* blocks = v[0].object;
  return polar_blocks_range_search(blocks->codec->handle, &blocks->blocks, nq, v[1].data,
                                   (float)v[2].number, search_of(call), capacity, lims, scores,
                                   ids);
}

/* blocks, queries, radius, whether ids are bigints, options */
static polar_status run_blocks_range_search(call* call) {
  const value* v = call->values;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status != POLAR_OK) return status;
  return run_range_search(call, nq, v[3].count == 0, search_range);
}

const operation blocks_operations[] = {
    {"blocksCreate", "C", run_create, give_blocks, false, NULL},
    {"blocksAppend", "Bu", run_append, NULL, true, NULL},
    {"blocksGet", "Bnn", run_get, give_bytes, false, NULL},
    {"blocksOverwrite", "Bnu", run_overwrite, NULL, true, NULL},
    {"blocksRemove", "Bu", run_remove, give_integer, true, NULL},
    {"blocksSwapRemove", "Bn", run_swap_remove, NULL, true, NULL},
    {"blocksRows", "B", run_rows, give_integer, false, NULL},
    {"blocksBytes", "B", run_bytes, give_integer, false, NULL},
    {"blocksSearch", "BfnfjS", run_search, NULL, false, NULL},
    {"blocksRangeSearch", "BfrnS", run_blocks_range_search, give_ranges, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
