/* SPDX-License-Identifier: MIT */
/* Options and filters of Java's, as the library takes them: jni_options.h. */
#include "jni_options.h"

#include <math.h>

#include "jni_callbacks.h"

/* Other threads may call back by it. */
static jobject as_global(jni_call* call, jobject local) {
  if (local == NULL || call->failed) return NULL;
  const jobject global = (*call->env)->NewGlobalRef(call->env, local);
  if (global == NULL)
    jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "Java has no memory for a reference to a callback");
  return global;
}

void jni_use_progress(jni_call* call, jobject progress) {
  call->progress = as_global(call, progress);
}

void jni_read_filter(jni_call* call, jobject filter, polar_filter* filled) {
  JNIEnv* env = call->env;
  polar_filter_init(filled);
  if (call->failed) return;
  filled->kind = (*env)->GetIntField(env, filter, jni_names.filter_kind);
  const jlong first = (*env)->GetLongField(env, filter, jni_names.filter_first);
  const jobject numbers = (*env)->GetObjectField(env, filter, jni_names.filter_numbers);
  const void* data = numbers == NULL ? NULL : (*env)->GetDirectBufferAddress(env, numbers);
  switch (filled->kind) {
    case POLAR_FILTER_BITSET:
      filled->bitset.words = data;
      filled->bitset.num_bits = first;
      break;
    case POLAR_FILTER_IDS:
      filled->ids.ids = data;
      filled->ids.count = first;
      break;
    case POLAR_FILTER_RANGE:
      filled->range.first = first;
      filled->range.end = (*env)->GetLongField(env, filter, jni_names.filter_end);
      break;
    case POLAR_FILTER_CALLBACK:
      call->predicate =
          as_global(call, (*env)->GetObjectField(env, filter, jni_names.filter_predicate));
      filled->callback.keep = jni_on_keep;
      filled->callback.user = call;
      break;
    case POLAR_FILTER_PREPARED:
      filled->prepared = jni_handle((*env)->GetLongField(env, filter, jni_names.filter_prepared));
      break;
    default:
      break;
  }
}

const polar_search_options* jni_read_search_options(jni_call* call, jobject options,
                                                    jni_search_options* memory) {
  if (options == NULL || call->failed) return NULL;
  JNIEnv* env = call->env;
  polar_search_options* to = &memory->options;
  polar_search_options_init(to);
  to->num_threads = (*env)->GetIntField(env, options, jni_names.search_num_threads);
  const jfloat exactness = (*env)->GetFloatField(env, options, jni_names.search_exactness);
  if (!isnan(exactness)) to->exactness = exactness;
  to->nprobe = (*env)->GetLongField(env, options, jni_names.search_nprobe);
  to->ef_search = (*env)->GetLongField(env, options, jni_names.search_ef_search);
  to->k_factor = (*env)->GetDoubleField(env, options, jni_names.search_k_factor);
  const jobject filter = (*env)->GetObjectField(env, options, jni_names.search_filter);
  if (filter != NULL) {
    jni_read_filter(call, filter, &memory->filter);
    to->filter = &memory->filter;
  }
  if (call->failed) return NULL;
  jni_use_progress(call, (*env)->GetObjectField(env, options, jni_names.search_progress));
  /* A predicate that throws ends the search, too. */
  if (call->progress != NULL || call->predicate != NULL) {
    to->progress = jni_on_progress;
    to->progress_user = call;
  }
  return to;
}

const polar_work_options* jni_read_work_options(jni_call* call, jobject options,
                                                polar_work_options* memory) {
  if (options == NULL || call->failed) return NULL;
  JNIEnv* env = call->env;
  polar_work_options_init(memory);
  memory->num_threads = (*env)->GetIntField(env, options, jni_names.work_num_threads);
  jni_use_progress(call, (*env)->GetObjectField(env, options, jni_names.work_progress));
  if (call->progress != NULL) {
    memory->progress = jni_on_progress;
    memory->progress_user = call;
  }
  return memory;
}

const polar_load_options* jni_read_load_options(jni_call* call, jobject options,
                                                polar_load_options* memory) {
  if (options == NULL || call->failed) return NULL;
  JNIEnv* env = call->env;
  polar_load_options_init(memory);
  memory->memory_map = (*env)->GetBooleanField(env, options, jni_names.load_memory_map);
  memory->trust_faiss = (*env)->GetBooleanField(env, options, jni_names.load_trust_faiss);
  return memory;
}
