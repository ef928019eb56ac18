/* SPDX-License-Identifier: MIT */
/* Range searches: jni_range.h. */
#include "jni_range.h"

#include <stdlib.h>

/* Rows that the first search has memory for; one search finds them where they are no more. */
#define FIRST_CAPACITY 4096

typedef struct found {
  int64_t* lims;
  float* scores;
  int64_t* ids;
  int64_t capacity;
} found;

static bool reserve(jni_call* call, found* rows, int64_t capacity) {
  free(rows->scores);
  free(rows->ids);
  rows->capacity = capacity;
  rows->scores = malloc((size_t)capacity * sizeof(float));
  rows->ids = malloc((size_t)capacity * sizeof(int64_t));
  if (rows->scores != NULL && rows->ids != NULL) return true;
  jni_unpin(call);
  jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for the rows found");
  return false;
}

static jobject make_result(jni_call* call, int64_t nq, const found* rows) {
  JNIEnv* env = call->env;
  const jsize total = (jsize)rows->lims[nq];
  const jlongArray lims = (*env)->NewLongArray(env, (jsize)(nq + 1));
  const jfloatArray scores = lims == NULL ? NULL : (*env)->NewFloatArray(env, total);
  const jlongArray ids = scores == NULL ? NULL : (*env)->NewLongArray(env, total);
  if (ids == NULL) {
    call->failed = true;
    return NULL;
  }
  (*env)->SetLongArrayRegion(env, lims, 0, (jsize)(nq + 1), (const jlong*)rows->lims);
  (*env)->SetFloatArrayRegion(env, scores, 0, total, rows->scores);
  (*env)->SetLongArrayRegion(env, ids, 0, total, (const jlong*)rows->ids);
  const jobject made =
      (*env)->NewObject(env, jni_names.range_result, jni_names.range_result_new, lims, scores, ids);
  if (made == NULL) call->failed = true;
  return made;
}

jobject jni_range_search(jni_call* call, int64_t nq, jni_range_fn search, const void* what) {
  found rows = {NULL, NULL, NULL, 0};
  polar_status status = POLAR_OK;
  if (!call->failed) {
    rows.lims = malloc((size_t)(nq + 1) * sizeof(int64_t));
    if (rows.lims == NULL) {
      jni_unpin(call);
      jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for the limits of each query");
    } else {
      reserve(call, &rows, FIRST_CAPACITY);
    }
  }
  while (!call->failed) {
    status = search(what, rows.capacity, rows.lims, rows.scores, rows.ids);
    /* Rows may have been added since the last search. */
    if (status != POLAR_OK || rows.lims[nq] <= rows.capacity) break;
    if (rows.lims[nq] > INT32_MAX - 8) {
      jni_unpin(call);
      jni_fail(call, POLAR_ERROR_BAD_ARGUMENT,
               "radius: finds more rows than an array of Java's can hold; ask fewer queries at a "
               "time, or a smaller radius");
      break;
    }
    reserve(call, &rows, rows.lims[nq]);
  }
  jobject made = NULL;
  jni_unpin(call);
  const bool is_done = status == POLAR_OK && !call->failed && atomic_load(&call->thrown) == NULL;
  if (is_done) made = make_result(call, nq, &rows);
  const bool worked = jni_call_end(call, status);
  free(rows.lims);
  free(rows.scores);
  free(rows.ids);
  return worked ? made : NULL;
}
