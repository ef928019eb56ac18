/* SPDX-License-Identifier: MIT */
/* Codecs: queries, scores and searches over codes that the caller keeps. NativeCodec.java says what
 * each takes. Codes are read where they lie (jni_pin), since they are as long as a search takes. */
#include "io_github_polarquant_NativeCodec.h"
#include "jni_call.h"
#include "jni_options.h"
#include "jni_range.h"

#define CODEC(name) Java_io_github_polarquant_NativeCodec_##name

JNIEXPORT jlong JNICALL CODEC(prepareQuery)(JNIEnv* env, jclass type, jlong codec, jobject q) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_query* made = NULL;
  const float* vector = jni_input(&call, q);
  if (!call.failed) status = polar_query_prepare(jni_handle(codec), vector, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT jlong JNICALL CODEC(prepareQueryFromCode)(JNIEnv* env, jclass type, jlong codec, jlong n,
                                                    jobject codes, jlong row) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_query* made = NULL;
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_pin(&call, codes);
  if (!call.failed)
    status = polar_query_prepare_from_code(jni_handle(codec), n, from, bytes, row, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL CODEC(destroyQuery)(JNIEnv* env, jclass type, jlong query) {
  (void)env;
  (void)type;
  polar_query_destroy(jni_handle(query));
}

JNIEXPORT void JNICALL CODEC(score)(JNIEnv* env, jclass type, jlong codec, jlong query, jlong n,
                                    jobject codes, jobject scores, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  float* to = jni_output_of(&call, scores);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_pin(&call, codes);
  if (!call.failed)
    status = polar_codec_score(jni_handle(codec), jni_handle(query), n, from, bytes, given, to);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL CODEC(scoreCodes)(JNIEnv* env, jclass type, jlong codec, jlong na, jobject a,
                                         jlong nb, jobject b, jobject scores, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  float* to = jni_output_of(&call, scores);
  const size_t a_bytes = (size_t)jni_count(&call, a), b_bytes = (size_t)jni_count(&call, b);
  const uint8_t* from_a = jni_input(&call, a);
  const uint8_t* from_b = jni_pin(&call, b);
  if (!call.failed)
    status = polar_codec_score_codes(jni_handle(codec), na, from_a, a_bytes, nb, from_b, b_bytes,
                                     given, to);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL CODEC(combine)(JNIEnv* env, jclass type, jlong codec, jlong n, jobject codes,
                                      jlong nw, jobject weights, jobject out, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* factors = jni_input(&call, weights);
  float* to = jni_output_of(&call, out);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_pin(&call, codes);
  if (!call.failed)
    status = polar_codec_combine(jni_handle(codec), n, from, bytes, nw, factors, given, to);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL CODEC(search)(JNIEnv* env, jclass type, jlong codec, jlong nq,
                                     jobject queries, jlong n, jobject codes, jlong k,
                                     jobject options, jobject scores, jobject ids) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  float* found_scores = jni_output_of(&call, scores);
  int64_t* found_ids = jni_output_of(&call, ids);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_pin(&call, codes);
  if (!call.failed)
    status = polar_codec_search(jni_handle(codec), nq, q, n, from, bytes, k, given, found_scores,
                                found_ids);
  jni_call_end(&call, status);
}

typedef struct codes_range {
  const polar_codec* codec;
  int64_t nq;
  const float* queries;
  int64_t n;
  const uint8_t* codes;
  size_t codes_bytes;
  float radius;
  const polar_search_options* options;
} codes_range;

static polar_status search_range(const void* what, int64_t capacity, int64_t* lims, float* scores,
                                 int64_t* ids) {
  const codes_range* range = what;
  return polar_codec_range_search(range->codec, range->nq, range->queries, range->n, range->codes,
                                  range->codes_bytes, range->radius, range->options, capacity, lims,
                                  scores, ids);
}

JNIEXPORT jobject JNICALL CODEC(rangeSearch)(JNIEnv* env, jclass type, jlong codec, jlong nq,
                                             jobject queries, jlong n, jobject codes, jfloat radius,
                                             jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_pin(&call, codes);
  const codes_range range = {jni_handle(codec), nq, q, n, from, bytes, radius, given};
  return jni_range_search(&call, nq, search_range, &range);
}
