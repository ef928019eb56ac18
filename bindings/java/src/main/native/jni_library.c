/* SPDX-License-Identifier: MIT */
/* The library itself, and prepared filters. */
#include <string.h>

#include "io_github_polarquant_NativeFilter.h"
#include "io_github_polarquant_NativePolarquant.h"
#include "jni_call.h"
#include "jni_options.h"

/* A static string of the library's. */
static size_t copy_text(const void* text, char* buf, size_t cap) {
  const size_t length = strlen(text);
  if (buf != NULL && cap > length) memcpy(buf, text, length + 1);
  return length;
}

static size_t read_help(const void* handle, char* buf, size_t cap) {
  (void)handle;
  return polar_spec_help(buf, cap);
}

JNIEXPORT jbyteArray JNICALL Java_io_github_polarquant_NativePolarquant_version(JNIEnv* env,
                                                                                jclass type) {
  (void)type;
  return jni_read_text(env, copy_text, polar_version_string());
}

JNIEXPORT jbyteArray JNICALL Java_io_github_polarquant_NativePolarquant_specHelp(JNIEnv* env,
                                                                                 jclass type) {
  (void)type;
  return jni_read_text(env, read_help, NULL);
}

JNIEXPORT jbyteArray JNICALL Java_io_github_polarquant_NativePolarquant_statusName(JNIEnv* env,
                                                                                   jclass type,
                                                                                   jint status) {
  (void)type;
  return jni_read_text(env, copy_text, polar_status_name(status));
}

JNIEXPORT jlong JNICALL Java_io_github_polarquant_NativeFilter_prepare(JNIEnv* env, jclass type,
                                                                       jobject filter) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_prepared_filter* made = NULL;
  polar_filter wanted;
  jni_read_filter(&call, filter, &wanted);
  if (!call.failed) status = polar_prepared_filter_create(&wanted, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL Java_io_github_polarquant_NativeFilter_destroy(JNIEnv* env, jclass type,
                                                                      jlong prepared) {
  (void)env;
  (void)type;
  polar_prepared_filter_destroy(jni_handle(prepared));
}
