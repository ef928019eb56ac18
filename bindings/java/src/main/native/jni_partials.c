/* SPDX-License-Identifier: MIT */
/* Parts of an index that are searched apart. NativePartials.java says what each takes. */
#include <stdlib.h>

#include "io_github_polarquant_NativePartials.h"
#include "jni_call.h"
#include "jni_options.h"

#define PARTIALS(name) Java_io_github_polarquant_NativePartials_##name

JNIEXPORT jbyteArray JNICALL PARTIALS(search)(JNIEnv* env, jclass type, jlong handle,
                                              jlong first_row, jlong nq, jobject queries, jlong k,
                                              jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_search_options search;
  const polar_search_options* given = jni_read_search_options(&call, options, &search);
  const float* q = jni_input(&call, queries);
  const polar_index* index = jni_handle(handle);
  polar_status status = POLAR_OK;
  size_t capacity = 0, bytes = 0;
  uint8_t* partial = NULL;
  while (!call.failed) {
    size_t most = 0;
    const polar_status asked = polar_index_partial_bytes(index, nq, k, &most);
    if (asked != POLAR_OK) status = asked;
    /* The error's text is that of the search before, which success does not clear. */
    if (asked != POLAR_OK || most <= capacity) break;
    free(partial);
    partial = malloc(most);
    capacity = most;
    if (partial == NULL) {
      jni_fail(&call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for a partial result");
      break;
    }
    status =
        polar_index_search_partial(index, first_row, nq, q, k, given, capacity, partial, &bytes);
    /* Else perhaps rows were added meanwhile, for which there is no memory. */
    if (status != POLAR_ERROR_BAD_ARGUMENT) break;
  }
  jbyteArray made = NULL;
  const bool is_done = status == POLAR_OK && !call.failed && atomic_load(&call.thrown) == NULL;
  if (is_done) made = jni_new_bytes(&call, partial, bytes);
  jni_call_end(&call, status);
  free(partial);
  return made;
}

JNIEXPORT void JNICALL PARTIALS(merge)(JNIEnv* env, jclass type, jobjectArray partials, jlong nq,
                                       jlong k, jobject scores, jobject ids) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  const jsize count = (*env)->GetArrayLength(env, partials);
  const uint8_t** data = jni_take(&call, (size_t)count * sizeof *data);
  size_t* bytes = jni_take(&call, (size_t)count * sizeof *bytes);
  for (jsize i = 0; i < count && !call.failed; ++i) {
    const jbyteArray partial = (*env)->GetObjectArrayElement(env, partials, i);
    const jsize length = (*env)->GetArrayLength(env, partial);
    jbyte* copy = jni_take(&call, (size_t)length);
    if (copy != NULL) (*env)->GetByteArrayRegion(env, partial, 0, length, copy);
    (*env)->DeleteLocalRef(env, partial);
    data[i] = (const uint8_t*)copy;
    bytes[i] = (size_t)length;
  }
  polar_status status = POLAR_OK;
  float* found_scores = jni_output_of(&call, scores);
  int64_t* found_ids = jni_output_of(&call, ids);
  if (!call.failed)
    status = polar_merge_partials(count, data, bytes, nq, k, found_scores, found_ids);
  jni_call_end(&call, status);
}
