/* SPDX-License-Identifier: MIT */
/* Index files in parts. NativeBuilder.java says what each takes. */
#include "io_github_polarquant_NativeBuilder.h"
#include "jni_call.h"
#include "jni_options.h"

#define BUILDER(name) Java_io_github_polarquant_NativeBuilder_##name

/* The texts of a byte[][], which last as long as the call. NULL for failures. */
static const char* const* read_paths(jni_call* call, jobjectArray paths, jsize count) {
  JNIEnv* env = call->env;
  const char** texts = jni_take(call, (size_t)count * sizeof *texts);
  for (jsize i = 0; i < count && !call->failed; ++i) {
    const jbyteArray path = (*env)->GetObjectArrayElement(env, paths, i);
    texts[i] = jni_text(call, path);
    (*env)->DeleteLocalRef(env, path);
  }
  return texts;
}

/* 0 bytes: the library's default. */
static polar_builder_options read_builder_options(jlong memory_bytes) {
  polar_builder_options options;
  polar_builder_options_init(&options);
  if (memory_bytes != 0) options.memory_bytes = memory_bytes;
  return options;
}

JNIEXPORT void JNICALL BUILDER(mergeFiles)(JNIEnv* env, jclass type, jobjectArray paths,
                                           jbyteArray out, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const jsize count = (*env)->GetArrayLength(env, paths);
  const char* const* texts = read_paths(&call, paths, count);
  const char* target = jni_text(&call, out);
  if (!call.failed) status = polar_merge_files(count, texts, target, given);
  jni_call_end(&call, status);
}

JNIEXPORT jlong JNICALL BUILDER(openShards)(JNIEnv* env, jclass type, jobjectArray paths) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_index* made = NULL;
  const jsize count = (*env)->GetArrayLength(env, paths);
  const char* const* texts = read_paths(&call, paths, count);
  if (!call.failed) status = polar_index_open_shards(count, texts, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT jlong JNICALL BUILDER(loadEmpty)(JNIEnv* env, jclass type, jbyteArray path) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_index* made = NULL;
  const char* name = jni_text(&call, path);
  if (!call.failed) status = polar_index_load_empty(name, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT jlong JNICALL BUILDER(create)(JNIEnv* env, jclass type, jlong index, jbyteArray path,
                                        jlong memory_bytes, jboolean replace) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_builder* made = NULL;
  polar_builder_options options = read_builder_options(memory_bytes);
  options.replace = replace;
  const char* name = jni_text(&call, path);
  if (!call.failed) status = polar_builder_create(jni_handle(index), name, &options, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT jlong JNICALL BUILDER(resume)(JNIEnv* env, jclass type, jbyteArray path,
                                        jlong memory_bytes) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_builder* made = NULL;
  const polar_builder_options options = read_builder_options(memory_bytes);
  const char* name = jni_text(&call, path);
  if (!call.failed) status = polar_builder_resume(name, &options, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL BUILDER(destroy)(JNIEnv* env, jclass type, jlong builder) {
  (void)env;
  (void)type;
  polar_builder_destroy(jni_handle(builder));
}

JNIEXPORT void JNICALL BUILDER(add)(JNIEnv* env, jclass type, jlong builder, jlong n, jobject x,
                                    jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = polar_builder_add(jni_handle(builder), n, rows, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BUILDER(addWithIds)(JNIEnv* env, jclass type, jlong builder, jlong n,
                                           jobject x, jobject ids, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  const int64_t* row_ids = jni_input(&call, ids);
  if (!call.failed)
    status = polar_builder_add_with_ids(jni_handle(builder), n, rows, row_ids, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL BUILDER(writePart)(JNIEnv* env, jclass type, jlong builder) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_call_end(&call, polar_builder_write_part(jni_handle(builder)));
}

JNIEXPORT void JNICALL BUILDER(finish)(JNIEnv* env, jclass type, jlong builder, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  if (!call.failed) status = polar_builder_finish(jni_handle(builder), given);
  jni_call_end(&call, status);
}

JNIEXPORT jint JNICALL BUILDER(dim)(JNIEnv* env, jclass type, jlong builder) {
  (void)env;
  (void)type;
  return polar_builder_dim(jni_handle(builder));
}

JNIEXPORT jlong JNICALL BUILDER(ntotal)(JNIEnv* env, jclass type, jlong builder) {
  (void)env;
  (void)type;
  return polar_builder_ntotal(jni_handle(builder));
}

JNIEXPORT jlong JNICALL BUILDER(written)(JNIEnv* env, jclass type, jlong builder) {
  (void)env;
  (void)type;
  return polar_builder_written(jni_handle(builder));
}
