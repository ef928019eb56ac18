/* SPDX-License-Identifier: MIT */
/* Indexes: searches, and what there is to know of one. NativeIndex.java says what each takes. */
#include "io_github_polarquant_NativeIndex.h"
#include "jni_call.h"
#include "jni_options.h"
#include "jni_range.h"

#define INDEX(name) Java_io_github_polarquant_NativeIndex_##name

JNIEXPORT void JNICALL INDEX(search)(JNIEnv* env, jclass type, jlong index, jlong nq,
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
    status = polar_index_search(jni_handle(index), nq, q, k, given, found_scores, found_ids);
  jni_call_end(&call, status);
}

typedef struct index_range {
  const polar_index* index;
  int64_t nq;
  const float* queries;
  float radius;
  const polar_search_options* options;
} index_range;

static polar_status search_range(const void* what, int64_t capacity, int64_t* lims, float* scores,
                                 int64_t* ids) {
  const index_range* range = what;
  return polar_index_range_search(range->index, range->nq, range->queries, range->radius,
                                  range->options, capacity, lims, scores, ids);
}

JNIEXPORT jobject JNICALL INDEX(rangeSearch)(JNIEnv* env, jclass type, jlong index, jlong nq,
                                             jobject queries, jfloat radius, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  const index_range range = {jni_handle(index), nq, q, radius, given};
  return jni_range_search(&call, nq, search_range, &range);
}

JNIEXPORT jbyteArray JNICALL INDEX(explain)(JNIEnv* env, jclass type, jlong index, jlong nq,
                                            jlong k, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  polar_status status = POLAR_OK;
  size_t needed = 2047, cap = 0;
  char* text = NULL;
  /* The text may have grown in between. */
  while (!call.failed && status == POLAR_OK && needed + 1 > cap) {
    cap = needed + 1;
    text = jni_take(&call, cap);
    if (text != NULL)
      status = polar_index_explain(jni_handle(index), nq, k, given, text, cap, &needed);
  }
  jbyteArray made = NULL;
  if (!call.failed && status == POLAR_OK) made = jni_new_bytes(&call, text, needed);
  jni_call_end(&call, status);
  return made;
}

static size_t read_description(const void* index, char* buf, size_t cap) {
  return polar_index_description(index, buf, cap);
}

JNIEXPORT jbyteArray JNICALL INDEX(description)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  return jni_read_text(env, read_description, jni_handle(index));
}

JNIEXPORT void JNICALL INDEX(info)(JNIEnv* env, jclass type, jlong index, jlongArray filled) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_index_info info = {.struct_size = sizeof info};
  const polar_status status = polar_index_get_info(jni_handle(index), &info);
  if (jni_call_end(&call, status)) {
    const jlong numbers[] = {info.dim, info.metric, info.is_trained, info.ntotal};
    (*env)->SetLongArrayRegion(env, filled, 0, 4, numbers);
  }
}

JNIEXPORT jlong JNICALL INDEX(ntotal)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  return polar_index_ntotal(jni_handle(index));
}

JNIEXPORT jboolean JNICALL INDEX(isTrained)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  return polar_index_is_trained(jni_handle(index)) != 0;
}

JNIEXPORT jlong JNICALL INDEX(nlist)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  return polar_index_nlist(jni_handle(index));
}

JNIEXPORT jlong JNICALL INDEX(nprobe)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  return polar_index_nprobe(jni_handle(index));
}

JNIEXPORT jlong JNICALL INDEX(codeSize)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t bytes = 0;
  jni_call_end(&call, polar_index_code_size(jni_handle(index), &bytes));
  return (jlong)bytes;
}

JNIEXPORT jlong JNICALL INDEX(memoryBytes)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t bytes = 0;
  jni_call_end(&call, polar_index_memory_bytes(jni_handle(index), &bytes));
  return (jlong)bytes;
}

JNIEXPORT void JNICALL INDEX(reconstruct)(JNIEnv* env, jclass type, jlong index, jlong id,
                                          jobject x) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  float* row = jni_output_of(&call, x);
  if (!call.failed) status = polar_index_reconstruct(jni_handle(index), id, row);
  jni_call_end(&call, status);
}
