/* SPDX-License-Identifier: MIT */
/* What Bench.java compares with: the same searches by C alone, and two ways to an array. */
#include <jni.h>
#include <polarquant/polarquant.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* 16 queries in turn, each of dim numbers. */
JNIEXPORT jdouble JNICALL Java_io_github_polarquant_Bench_searchInC(JNIEnv* env, jclass type,
                                                                    jlong index,
                                                                    jfloatArray queries, jint dim,
                                                                    jint k, jint calls) {
  (void)type;
  const jsize length = 16 * dim;
  float* q = malloc((size_t)length * sizeof *q);
  float* scores = malloc((size_t)k * sizeof *scores);
  int64_t* ids = malloc((size_t)k * sizeof *ids);
  double time = 0;
  if (q != NULL && scores != NULL && ids != NULL) {
    (*env)->GetFloatArrayRegion(env, queries, 0, length, q);
    const double begin = now();
    for (jint i = 0; i < calls; ++i) {
      polar_search_options options;
      polar_search_options_init(&options);
      options.num_threads = 1;
      polar_index_search((const polar_index*)(intptr_t)index, 1, q + (i & 15) * dim, k, &options,
                         scores, ids);
    }
    time = (now() - begin) / calls;
  }
  free(q);
  free(scores);
  free(ids);
  return time;
}

JNIEXPORT jdouble JNICALL Java_io_github_polarquant_Bench_giveArray(JNIEnv* env, jclass type,
                                                                    jfloatArray array, jint way,
                                                                    jint calls) {
  (void)type;
  const jsize length = (*env)->GetArrayLength(env, array);
  const double begin = now();
  for (jint i = 0; i < calls; ++i) {
    if (way == 0) {
      void* data = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
      (*env)->ReleasePrimitiveArrayCritical(env, array, data, JNI_ABORT);
    } else {
      char near[16384];
      const size_t bytes = (size_t)length * sizeof(float);
      float* data = bytes <= sizeof near ? (float*)near : malloc(bytes);
      (*env)->GetFloatArrayRegion(env, array, 0, length, data);
      if (data != (float*)near) free(data);
    }
  }
  return (now() - begin) / calls;
}
