/* SPDX-License-Identifier: MIT */
/* Searches, encoding and scores on GPUs. NativeCuda.java says what each takes. All arrays are the
 * host's, and all work goes to the default stream. */
#include <string.h>

#include "io_github_polarquant_NativeCuda.h"
#include "jni_call.h"
#include "jni_options.h"

#define CUDA(name) Java_io_github_polarquant_NativeCuda_##name

/* devices: int[], NULL for one. */
static void read_options(jni_call* call, jint num_threads, jint device, jintArray devices,
                         jint layout, polar_cuda_options* options) {
  JNIEnv* env = call->env;
  polar_cuda_options_init(options);
  options->num_threads = num_threads;
  options->device = device;
  options->layout = layout;
  if (devices == NULL) return;
  const jsize count = (*env)->GetArrayLength(env, devices);
  jint* numbers = jni_take(call, (size_t)count * sizeof *numbers);
  if (numbers == NULL) return;
  (*env)->GetIntArrayRegion(env, devices, 0, count, numbers);
  call->failed = (*env)->ExceptionCheck(env);
  options->num_devices = count;
  options->devices = (const int32_t*)numbers;
}

JNIEXPORT jint JNICALL CUDA(deviceCount)(JNIEnv* env, jclass type) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  int32_t count = 0;
  jni_call_end(&call, polar_cuda_device_count(&count));
  return count;
}

JNIEXPORT jbyteArray JNICALL CUDA(deviceInfo)(JNIEnv* env, jclass type, jint device,
                                              jlongArray filled) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_cuda_device_info info = {.struct_size = sizeof info};
  const polar_status status = polar_cuda_get_device_info(device, &info);
  jbyteArray name = NULL;
  if (status == POLAR_OK) {
    const jlong numbers[] = {info.compute_major, info.compute_minor, info.multiprocessors,
                             (jlong)info.total_bytes, (jlong)info.free_bytes};
    (*env)->SetLongArrayRegion(env, filled, 0, 5, numbers);
    call.failed = (*env)->ExceptionCheck(env);
    if (!call.failed) name = jni_new_bytes(&call, info.name, strlen(info.name));
  }
  jni_call_end(&call, status);
  return name;
}

JNIEXPORT jlong JNICALL CUDA(indexFromIndex)(JNIEnv* env, jclass type, jlong index,
                                             jint num_threads, jint device, jintArray devices,
                                             jint layout) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_cuda_index* made = NULL;
  polar_cuda_options options;
  read_options(&call, num_threads, device, devices, layout, &options);
  if (!call.failed) status = polar_cuda_index_from_index(jni_handle(index), &options, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT jlong JNICALL CUDA(indexFromCodes)(JNIEnv* env, jclass type, jlong codec, jlong n,
                                             jobject codes, jint num_threads, jint device,
                                             jintArray devices, jint layout) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_cuda_index* made = NULL;
  polar_cuda_options options;
  read_options(&call, num_threads, device, devices, layout, &options);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_input(&call, codes);
  if (!call.failed)
    status = polar_cuda_index_from_codes(jni_handle(codec), n, from, bytes, &options, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL CUDA(destroyIndex)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  polar_cuda_index_destroy(jni_handle(index));
}

JNIEXPORT void JNICALL CUDA(search)(JNIEnv* env, jclass type, jlong index, jlong nq,
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
    status =
        polar_cuda_index_search(jni_handle(index), nq, q, k, given, NULL, found_scores, found_ids);
  jni_call_end(&call, status);
}

JNIEXPORT jlong JNICALL CUDA(ntotal)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  return polar_cuda_index_ntotal(jni_handle(index));
}

JNIEXPORT jlong JNICALL CUDA(memoryBytes)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t bytes = 0;
  jni_call_end(&call, polar_cuda_index_memory_bytes(jni_handle(index), &bytes));
  return (jlong)bytes;
}

JNIEXPORT jlong JNICALL CUDA(createEncoder)(JNIEnv* env, jclass type, jlong codec, jint device) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_cuda_encoder* made = NULL;
  polar_cuda_options options;
  read_options(&call, 0, device, NULL, POLAR_CUDA_SHARDED, &options);
  jni_call_end(&call, polar_cuda_encoder_create(jni_handle(codec), &options, &made));
  return jni_address(made);
}

JNIEXPORT void JNICALL CUDA(destroyEncoder)(JNIEnv* env, jclass type, jlong encoder) {
  (void)env;
  (void)type;
  polar_cuda_encoder_destroy(jni_handle(encoder));
}

JNIEXPORT void JNICALL CUDA(encode)(JNIEnv* env, jclass type, jlong encoder, jlong n, jobject x,
                                    jobject codes) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  const float* rows = jni_input(&call, x);
  uint8_t* to = jni_output_of(&call, codes);
  const size_t bytes = (size_t)jni_count(&call, codes);
  if (!call.failed)
    status = polar_cuda_encoder_encode(jni_handle(encoder), n, rows, to, bytes, NULL);
  jni_call_end(&call, status);
}

JNIEXPORT jlong JNICALL CUDA(createCodec)(JNIEnv* env, jclass type, jlong codec, jint num_threads,
                                          jint device) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_cuda_codec* made = NULL;
  polar_cuda_options options;
  read_options(&call, num_threads, device, NULL, POLAR_CUDA_SHARDED, &options);
  jni_call_end(&call, polar_cuda_codec_create(jni_handle(codec), &options, &made));
  return jni_address(made);
}

JNIEXPORT void JNICALL CUDA(destroyCodec)(JNIEnv* env, jclass type, jlong codec) {
  (void)env;
  (void)type;
  polar_cuda_codec_destroy(jni_handle(codec));
}

/* polar_cuda_codec_score or polar_cuda_codec_combine. */
typedef polar_status (*over_heads_fn)(const polar_cuda_codec*, int64_t, int64_t, const float*,
                                      int64_t, const uint8_t*, size_t, void*, float*);

static void over_heads(JNIEnv* env, over_heads_fn function, jlong codec, const jlong* counts,
                       jobject vectors, jobject codes, jobject out) {
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  const float* given = jni_input(&call, vectors);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_input(&call, codes);
  float* to = jni_output_of(&call, out);
  if (!call.failed)
    status =
        function(jni_handle(codec), counts[0], counts[1], given, counts[2], from, bytes, NULL, to);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL CUDA(score)(JNIEnv* env, jclass type, jlong codec, jlong heads, jlong nq,
                                   jobject queries, jlong n, jobject codes, jobject scores) {
  (void)type;
  const jlong counts[] = {heads, nq, n};
  over_heads(env, polar_cuda_codec_score, codec, counts, queries, codes, scores);
}

JNIEXPORT void JNICALL CUDA(combine)(JNIEnv* env, jclass type, jlong codec, jlong heads, jlong nw,
                                     jobject weights, jlong n, jobject codes, jobject out) {
  (void)type;
  const jlong counts[] = {heads, nw, n};
  over_heads(env, polar_cuda_codec_combine, codec, counts, weights, codes, out);
}
