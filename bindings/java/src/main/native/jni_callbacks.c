/* SPDX-License-Identifier: MIT */
/* Calls from the library to Java: jni_callbacks.h. */
#include "jni_callbacks.h"

#define CHUNK_BYTES 65536

/* Keeps the pending exception, if it is the call's first, and clears it. */
static void keep_thrown(JNIEnv* env, jni_call* call) {
  const jthrowable local = (*env)->ExceptionOccurred(env);
  if (local == NULL) return;
  (*env)->ExceptionClear(env);
  void* global = (*env)->NewGlobalRef(env, local);
  (*env)->DeleteLocalRef(env, local);
  void* expected = NULL;
  if (global != NULL && !atomic_compare_exchange_strong(&call->thrown, &expected, global))
    (*env)->DeleteGlobalRef(env, (jobject)global);
}

int32_t jni_on_progress(void* user, double done) {
  jni_call* call = user;
  if (atomic_load(&call->thrown) != NULL) return 1;
  if (call->progress == NULL) return 0;
  JNIEnv* env = jni_env_of_thread();
  if (env == NULL) return 1;
  const jboolean goes_on = (*env)->CallStaticBooleanMethod(
      env, jni_names.callbacks, jni_names.callbacks_progress, call->progress, (jdouble)done);
  if ((*env)->ExceptionCheck(env)) {
    keep_thrown(env, call);
    return 1;
  }
  return goes_on ? 0 : 1;
}

int32_t jni_on_keep(void* user, int64_t id) {
  jni_call* call = user;
  if (atomic_load(&call->thrown) != NULL) return 0;
  JNIEnv* env = jni_env_of_thread();
  if (env == NULL) return 0;
  const jboolean keeps = (*env)->CallStaticBooleanMethod(
      env, jni_names.callbacks, jni_names.callbacks_keep, call->predicate, (jlong)id);
  if ((*env)->ExceptionCheck(env)) {
    keep_thrown(env, call);
    return 0;
  }
  return keeps ? 1 : 0;
}

void jni_use_stream(jni_call* call, jobject stream) {
  if (call->failed) return;
  call->stream = stream;
  call->chunk = (*call->env)->NewByteArray(call->env, CHUNK_BYTES);
  if (call->chunk == NULL) call->failed = true;
}

int32_t jni_on_write(void* user, const void* data, size_t bytes) {
  jni_call* call = user;
  JNIEnv* env = call->env;
  const jbyte* next = data;
  while (bytes > 0) {
    const jsize part = bytes < CHUNK_BYTES ? (jsize)bytes : CHUNK_BYTES;
    (*env)->SetByteArrayRegion(env, call->chunk, 0, part, next);
    if (!(*env)->ExceptionCheck(env))
      (*env)->CallStaticVoidMethod(env, jni_names.callbacks, jni_names.callbacks_write,
                                   call->stream, call->chunk, (jint)part);
    if ((*env)->ExceptionCheck(env)) {
      keep_thrown(env, call);
      return 1;
    }
    next += part;
    bytes -= (size_t)part;
  }
  return 0;
}

int64_t jni_on_read(void* user, void* data, size_t bytes) {
  jni_call* call = user;
  JNIEnv* env = call->env;
  const jint wanted = bytes < CHUNK_BYTES ? (jint)bytes : CHUNK_BYTES;
  const jint count = (*env)->CallStaticIntMethod(env, jni_names.callbacks, jni_names.callbacks_read,
                                                 call->stream, call->chunk, wanted);
  if ((*env)->ExceptionCheck(env)) {
    keep_thrown(env, call);
    return -1;
  }
  /* 0 at the end of the stream; Callbacks.read gives no more than was asked for. */
  if (count > 0) (*env)->GetByteArrayRegion(env, call->chunk, 0, count, data);
  return count;
}
