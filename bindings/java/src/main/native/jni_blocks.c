/* SPDX-License-Identifier: MIT */
/* Codes in blocks, in memory of C's that grows with them. NativeBlocks.java says what each takes;
 * CodeBlocks.java sees to it that changes have the blocks alone. */
#include <stdlib.h>
#include <string.h>

#include "io_github_polarquant_NativeBlocks.h"
#include "jni_call.h"
#include "jni_options.h"
#include "jni_range.h"

#define BLOCKS(name) Java_io_github_polarquant_NativeBlocks_##name
#define ALIGNMENT 64

/* Blocks without rows, in memory of so many bytes; NULL when there is none. */
static uint8_t* allocate(size_t bytes) {
  const size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return rounded < bytes ? NULL : aligned_alloc(ALIGNMENT, rounded == 0 ? ALIGNMENT : rounded);
}

/* Memory for that many rows; a quarter more where it grows. */
static polar_status reserve(jni_call* call, const polar_codec* codec, polar_blocks* blocks,
                            int64_t rows) {
  size_t needed = 0;
  polar_status status = polar_blocks_bytes(codec, rows, &needed);
  if (status != POLAR_OK || needed <= blocks->bytes) return status;
  const int64_t ample = blocks->rows + blocks->rows / 4;
  if (ample > rows) status = polar_blocks_bytes(codec, ample, &needed);
  if (status != POLAR_OK) return status;
  uint8_t* data = allocate(needed);
  if (data == NULL) {
    jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for so many rows in blocks");
    return POLAR_OK;
  }
  if (blocks->bytes > 0) memcpy(data, blocks->data, blocks->bytes);
  memset(data + blocks->bytes, 0, needed - blocks->bytes);
  free(blocks->data);
  blocks->data = data;
  blocks->bytes = needed;
  return POLAR_OK;
}

JNIEXPORT jlong JNICALL BLOCKS(create)(JNIEnv* env, jclass type, jlong codec) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_blocks* made = calloc(1, sizeof *made);
  if (made == NULL)
    jni_fail(&call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for blocks");
  else
    status = reserve(&call, jni_handle(codec), made, 0);
  if (jni_call_end(&call, status)) return jni_address(made);
  if (made != NULL) free(made->data);
  free(made);
  return 0;
}

JNIEXPORT void JNICALL BLOCKS(destroy)(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  polar_blocks* blocks = jni_handle(handle);
  free(blocks->data);
  free(blocks);
}

JNIEXPORT jlong JNICALL BLOCKS(rows)(JNIEnv* env, jclass type, jlong blocks) {
  (void)env;
  (void)type;
  return ((const polar_blocks*)jni_handle(blocks))->rows;
}

JNIEXPORT jlong JNICALL BLOCKS(memoryBytes)(JNIEnv* env, jclass type, jlong blocks) {
  (void)env;
  (void)type;
  return (jlong)((const polar_blocks*)jni_handle(blocks))->bytes;
}

JNIEXPORT void JNICALL BLOCKS(append)(JNIEnv* env, jclass type, jlong codec, jlong handle, jlong n,
                                      jobject codes) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_blocks* blocks = jni_handle(handle);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_input(&call, codes);
  polar_status status = POLAR_OK;
  if (!call.failed) status = reserve(&call, jni_handle(codec), blocks, blocks->rows + n);
  if (!call.failed && status == POLAR_OK)
    status = polar_blocks_append(jni_handle(codec), blocks, n, from, bytes);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BLOCKS(get)(JNIEnv* env, jclass type, jlong codec, jlong blocks, jlong first,
                                   jlong count, jobject codes) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  uint8_t* to = jni_output_of(&call, codes);
  const size_t bytes = (size_t)jni_count(&call, codes);
  if (!call.failed)
    status = polar_blocks_get(jni_handle(codec), jni_handle(blocks), first, count, to, bytes);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BLOCKS(overwrite)(JNIEnv* env, jclass type, jlong codec, jlong blocks,
                                         jlong row, jobject code) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  const size_t bytes = (size_t)jni_count(&call, code);
  const uint8_t* from = jni_input(&call, code);
  if (!call.failed)
    status = polar_blocks_overwrite(jni_handle(codec), jni_handle(blocks), row, from, bytes);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BLOCKS(remove)(JNIEnv* env, jclass type, jlong codec, jlong blocks,
                                      jobject removed) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  const uint64_t* words = jni_input(&call, removed);
  if (!call.failed) status = polar_blocks_remove(jni_handle(codec), jni_handle(blocks), words);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BLOCKS(swapRemove)(JNIEnv* env, jclass type, jlong codec, jlong blocks,
                                          jlong row) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_call_end(&call, polar_blocks_swap_remove(jni_handle(codec), jni_handle(blocks), row));
}

JNIEXPORT void JNICALL BLOCKS(search)(JNIEnv* env, jclass type, jlong codec, jlong blocks, jlong nq,
                                      jobject queries, jlong k, jobject options, jobject scores,
                                      jobject ids) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  float* found_scores = jni_output_of(&call, scores);
  int64_t* found_ids = jni_output_of(&call, ids);
  if (!call.failed)
    status = polar_blocks_search(jni_handle(codec), jni_handle(blocks), nq, q, k, given,
                                 found_scores, found_ids);
  jni_call_end(&call, status);
}

typedef struct blocks_range {
  const polar_codec* codec;
  const polar_blocks* blocks;
  int64_t nq;
  const float* queries;
  float radius;
  const polar_search_options* options;
} blocks_range;

static polar_status search_range(const void* what, int64_t capacity, int64_t* lims, float* scores,
                                 int64_t* ids) {
  const blocks_range* range = what;
  return polar_blocks_range_search(range->codec, range->blocks, range->nq, range->queries,
                                   range->radius, range->options, capacity, lims, scores, ids);
}

JNIEXPORT jobject JNICALL BLOCKS(rangeSearch)(JNIEnv* env, jclass type, jlong codec, jlong blocks,
                                              jlong nq, jobject queries, jfloat radius,
                                              jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  const blocks_range range = {jni_handle(codec), jni_handle(blocks), nq, q, radius, given};
  return jni_range_search(&call, nq, search_range, &range);
}
