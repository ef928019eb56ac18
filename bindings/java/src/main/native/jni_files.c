/* SPDX-License-Identifier: MIT */
/* Indexes to and from files and streams. NativeIndex.java says what each takes. */
#include "io_github_polarquant_NativeIndex.h"
#include "jni_call.h"
#include "jni_callbacks.h"
#include "jni_options.h"

#define INDEX(name) Java_io_github_polarquant_NativeIndex_##name

JNIEXPORT void JNICALL INDEX(save)(JNIEnv* env, jclass type, jlong index, jbyteArray path,
                                   jboolean verify) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_save_options options;
  polar_save_options_init(&options);
  options.verify = verify;
  const char* name = jni_text(&call, path);
  if (!call.failed) status = polar_index_save(jni_handle(index), name, &options);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(write)(JNIEnv* env, jclass type, jlong index, jobject stream) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  jni_use_stream(&call, stream);
  if (!call.failed) status = polar_index_save_to(jni_handle(index), jni_on_write, &call, NULL);
  jni_call_end(&call, status);
}

/* The handle, or 0 where an exception of a callback comes after the index was made. */
static jlong end_load(jni_call* call, polar_status status, polar_index* made) {
  if (jni_call_end(call, status)) return jni_address(made);
  polar_index_destroy(made);
  return 0;
}

JNIEXPORT jlong JNICALL INDEX(load)(JNIEnv* env, jclass type, jbyteArray path, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_index* made = NULL;
  polar_load_options load;
  const polar_load_options* given = jni_read_load_options(&call, options, &load);
  const char* name = jni_text(&call, path);
  if (!call.failed) status = polar_index_load(name, given, &made);
  return end_load(&call, status, made);
}

JNIEXPORT jlong JNICALL INDEX(read)(JNIEnv* env, jclass type, jobject stream, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_index* made = NULL;
  polar_load_options load;
  const polar_load_options* given = jni_read_load_options(&call, options, &load);
  jni_use_stream(&call, stream);
  if (!call.failed) status = polar_index_load_from(jni_on_read, &call, given, &made);
  return end_load(&call, status, made);
}

JNIEXPORT void JNICALL INDEX(verify)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_call_end(&call, polar_index_verify(jni_handle(index)));
}
