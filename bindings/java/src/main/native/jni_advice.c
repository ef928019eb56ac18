/* SPDX-License-Identifier: MIT */
/* Which code to take. NativeAdvice.java says what each takes. */
#include <string.h>

#include "io_github_polarquant_NativeAdvice.h"
#include "jni_call.h"
#include "jni_callbacks.h"
#include "jni_options.h"

#define ADVICE(name) Java_io_github_polarquant_NativeAdvice_##name

/* An array of Java's texts, each closed by 0. */
static const char* const* read_specs(jni_call* call, jobjectArray specs, jsize count) {
  JNIEnv* env = call->env;
  const char** texts = jni_take(call, (size_t)count * sizeof *texts);
  for (jsize i = 0; texts != NULL && !call->failed && i < count; ++i) {
    const jbyteArray spec = (jbyteArray)(*env)->GetObjectArrayElement(env, specs, i);
    if ((*env)->ExceptionCheck(env)) {
      call->failed = true;
      break;
    }
    texts[i] = jni_text(call, spec);
    (*env)->DeleteLocalRef(env, spec);
  }
  return texts;
}

/* whole: num_threads, seed, k, max_rows, max_queries, total_rows; real: wanted_recall,
 * allowed_bytes. 0 for k, max_rows and max_queries keeps the library's default. */
static void read_numbers(jni_call* call, jlongArray whole, jdoubleArray real,
                         polar_advice_options* options) {
  JNIEnv* env = call->env;
  jlong wholes[6] = {0};
  jdouble reals[2] = {0};
  (*env)->GetLongArrayRegion(env, whole, 0, 6, wholes);
  if (!(*env)->ExceptionCheck(env)) (*env)->GetDoubleArrayRegion(env, real, 0, 2, reals);
  if ((*env)->ExceptionCheck(env)) {
    call->failed = true;
    return;
  }
  options->num_threads = (int32_t)wholes[0];
  options->seed = (uint64_t)wholes[1];
  if (wholes[2] != 0) options->k = wholes[2];
  if (wholes[3] != 0) options->max_rows = wholes[3];
  if (wholes[4] != 0) options->max_queries = wholes[4];
  options->total_rows = wholes[5];
  options->wanted_recall = reals[0];
  options->allowed_bytes = reals[1];
}

JNIEXPORT jlong JNICALL ADVICE(create)(JNIEnv* env, jclass type, jint dim, jint metric, jlong n,
                                       jobject x, jlong nq, jobject queries, jlongArray whole,
                                       jdoubleArray real, jobjectArray specs, jobject progress) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_advice* made = NULL;
  polar_advice_options options;
  polar_advice_options_init(&options);
  read_numbers(&call, whole, real, &options);
  if (specs != NULL && !call.failed) {
    const jsize count = (*env)->GetArrayLength(env, specs);
    options.specs = read_specs(&call, specs, count);
    options.num_specs = count;
  }
  jni_use_progress(&call, progress);
  if (call.progress != NULL) {
    options.progress = jni_on_progress;
    options.progress_user = &call;
  }
  const float* rows = jni_input(&call, x);
  const float* q = jni_input(&call, queries);
  if (!call.failed) status = polar_advice_create(dim, metric, n, rows, nq, q, &options, &made);
  if (jni_call_end(&call, status)) return jni_address(made);
  polar_advice_destroy(made);
  return 0;
}

JNIEXPORT void JNICALL ADVICE(destroy)(JNIEnv* env, jclass type, jlong advice) {
  (void)env;
  (void)type;
  polar_advice_destroy(jni_handle(advice));
}

JNIEXPORT jbyteArray JNICALL ADVICE(info)(JNIEnv* env, jclass type, jlong advice,
                                          jlongArray filled) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_advice_info info = {.struct_size = sizeof info};
  const polar_status status = polar_advice_get_info(jni_handle(advice), &info);
  jbyteArray reason = NULL;
  if (status == POLAR_OK) {
    const jlong numbers[] = {info.held_out_queries, info.rows,      info.recommended,
                             info.queries,          info.base_rows, info.train_rows};
    (*env)->SetLongArrayRegion(env, filled, 0, 6, numbers);
    call.failed = (*env)->ExceptionCheck(env);
    if (!call.failed) reason = jni_new_bytes(&call, info.reason, strlen(info.reason));
  }
  jni_call_end(&call, status);
  return reason;
}

static void put_text(jni_call* call, jobjectArray texts, jsize at, const char* text) {
  if (call->failed) return;
  const jbyteArray bytes = jni_new_bytes(call, text, strlen(text));
  if (bytes == NULL) return;
  (*call->env)->SetObjectArrayElement(call->env, texts, at, bytes);
  call->failed = (*call->env)->ExceptionCheck(call->env);
}

/* texts: spec, problem. */
JNIEXPORT void JNICALL ADVICE(row)(JNIEnv* env, jclass type, jlong advice, jlong row,
                                   jobjectArray texts, jdoubleArray filled) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_advice_row read = {.struct_size = sizeof read};
  const polar_status status = polar_advice_get_row(jni_handle(advice), row, &read);
  if (status == POLAR_OK) {
    const jdouble numbers[] = {
        read.needs_training, read.bytes_per_vector,    read.recall, read.recall_margin,
        read.quarter_recall, read.expected_recall,     read.error,  read.gain,
        read.gain_margin,    (double)read.codec_bytes, read.pays,   read.is_recommended};
    (*env)->SetDoubleArrayRegion(env, filled, 0, 12, numbers);
    call.failed = (*env)->ExceptionCheck(env);
    put_text(&call, texts, 0, read.spec);
    put_text(&call, texts, 1, read.problem);
  }
  jni_call_end(&call, status);
}
