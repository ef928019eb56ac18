/* SPDX-License-Identifier: MIT */
/* Codecs: making, training, describing and using them. NativeCodec.java says what each takes. */
#include "io_github_polarquant_NativeCodec.h"
#include "jni_call.h"
#include "jni_options.h"

#define CODEC(name) Java_io_github_polarquant_NativeCodec_##name

JNIEXPORT jlong JNICALL CODEC(create)(JNIEnv* env, jclass type, jbyteArray spec, jint dim,
                                      jint metric, jlong seed, jobject centre,
                                      jboolean learn_centre, jdouble norm_unit) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_codec* made = NULL;
  polar_codec_options options;
  polar_codec_options_init(&options);
  options.learn_centre = learn_centre;
  options.seed = (uint64_t)seed;
  options.norm_unit = norm_unit;
  options.centre = jni_input(&call, centre);
  const char* text = jni_text(&call, spec);
  if (!call.failed) status = polar_codec_create(text, dim, metric, &options, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL CODEC(destroy)(JNIEnv* env, jclass type, jlong codec) {
  (void)env;
  (void)type;
  polar_codec_destroy(jni_handle(codec));
}

JNIEXPORT void JNICALL CODEC(info)(JNIEnv* env, jclass type, jlong codec, jlongArray whole,
                                   jdoubleArray real) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_codec_info info = {.struct_size = sizeof info};
  if (!jni_call_end(&call, polar_codec_get_info(jni_handle(codec), &info))) return;
  const jlong wholes[] = {info.dim,
                          info.metric,
                          info.is_trained,
                          info.state_origin,
                          info.group_rows,
                          (jlong)info.seed,
                          (jlong)info.code_bytes,
                          (jlong)info.factor_bytes,
                          (jlong)info.tail_row_bytes,
                          (jlong)info.state_id};
  const jdouble reals[] = {info.bits_per_dim, info.mse, info.centre_norm, info.norm_unit};
  (*env)->SetLongArrayRegion(env, whole, 0, 10, wholes);
  if (!(*env)->ExceptionCheck(env)) (*env)->SetDoubleArrayRegion(env, real, 0, 4, reals);
}

static size_t read_spec(const void* codec, char* buf, size_t cap) {
  return polar_codec_spec(codec, buf, cap);
}

JNIEXPORT jbyteArray JNICALL CODEC(spec)(JNIEnv* env, jclass type, jlong codec) {
  (void)type;
  return jni_read_text(env, read_spec, jni_handle(codec));
}

JNIEXPORT void JNICALL CODEC(centre)(JNIEnv* env, jclass type, jlong codec, jobject centre) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  float* to = jni_output_of(&call, centre);
  if (!call.failed) status = polar_codec_get_centre(jni_handle(codec), to);
  jni_call_end(&call, status);
}

JNIEXPORT jlong JNICALL CODEC(memoryBytes)(JNIEnv* env, jclass type, jlong codec) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t bytes = 0;
  jni_call_end(&call, polar_codec_memory_bytes(jni_handle(codec), &bytes));
  return (jlong)bytes;
}

JNIEXPORT void JNICALL CODEC(train)(JNIEnv* env, jclass type, jlong codec, jlong n, jobject x,
                                    jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = polar_codec_train(jni_handle(codec), n, rows, given);
  jni_call_end(&call, status);
}

/* A double[]: has_basis, error, untrained_error, then first, dim, bits, scale of each segment. */
JNIEXPORT jdoubleArray JNICALL CODEC(plan)(JNIEnv* env, jclass type, jlong codec) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_codec_plan plan = {.struct_size = sizeof plan};
  polar_segment* segments = NULL;
  polar_status status = polar_codec_get_plan(jni_handle(codec), &plan, NULL, 0);
  const int64_t count = plan.segments;
  if (status == POLAR_OK) segments = jni_take(&call, (size_t)count * sizeof *segments);
  double* numbers =
      segments == NULL ? NULL : jni_take(&call, (size_t)(3 + 4 * count) * sizeof(double));
  jdoubleArray made = NULL;
  if (numbers != NULL) {
    status = polar_codec_get_plan(jni_handle(codec), &plan, segments, count);
    made = (*env)->NewDoubleArray(env, (jsize)(3 + 4 * count));
    call.failed = made == NULL;
  }
  if (made != NULL && status == POLAR_OK) {
    numbers[0] = plan.has_basis;
    numbers[1] = plan.error;
    numbers[2] = plan.untrained_error;
    for (int64_t i = 0; i < count; ++i) {
      double* to = numbers + 3 + 4 * i;
      to[0] = segments[i].first;
      to[1] = segments[i].dim;
      to[2] = segments[i].bits;
      to[3] = segments[i].scale;
    }
    (*env)->SetDoubleArrayRegion(env, made, 0, (jsize)(3 + 4 * count), numbers);
  }
  jni_call_end(&call, status);
  return made;
}

JNIEXPORT jdouble JNICALL CODEC(drift)(JNIEnv* env, jclass type, jlong codec, jlong n, jobject x,
                                       jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  double drift = 0;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = polar_codec_drift(jni_handle(codec), n, rows, given, &drift);
  jni_call_end(&call, status);
  return drift;
}

JNIEXPORT jlong JNICALL CODEC(encodedBytes)(JNIEnv* env, jclass type, jlong codec, jlong n) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t bytes = 0;
  jni_call_end(&call, polar_codec_encoded_bytes(jni_handle(codec), n, &bytes));
  return bytes > INT64_MAX ? INT64_MAX : (jlong)bytes;
}

JNIEXPORT void JNICALL CODEC(encode)(JNIEnv* env, jclass type, jlong codec, jlong n, jobject x,
                                     jobject codes, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  uint8_t* to = jni_output_of(&call, codes);
  const size_t bytes = (size_t)jni_count(&call, codes);
  if (!call.failed) status = polar_codec_encode(jni_handle(codec), n, rows, given, to, bytes);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL CODEC(decode)(JNIEnv* env, jclass type, jlong codec, jlong n, jobject codes,
                                     jint kind, jobject x, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const size_t bytes = (size_t)jni_count(&call, codes);
  const uint8_t* from = jni_input(&call, codes);
  float* rows = jni_output_of(&call, x);
  if (!call.failed)
    status = polar_codec_decode(jni_handle(codec), n, from, bytes, kind, given, rows);
  jni_call_end(&call, status);
}

JNIEXPORT jbyteArray JNICALL CODEC(saveState)(JNIEnv* env, jclass type, jlong codec) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  size_t needed = 0;
  uint8_t* state = NULL;
  polar_status status = polar_codec_save_state(jni_handle(codec), NULL, 0, &needed);
  if (status == POLAR_OK) state = jni_take(&call, needed);
  if (state != NULL) status = polar_codec_save_state(jni_handle(codec), state, needed, &needed);
  jbyteArray made = NULL;
  if (state != NULL && status == POLAR_OK) made = jni_new_bytes(&call, state, needed);
  jni_call_end(&call, status);
  return made;
}

JNIEXPORT jlong JNICALL CODEC(loadState)(JNIEnv* env, jclass type, jobject state) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_codec* made = NULL;
  const size_t bytes = (size_t)jni_count(&call, state);
  const uint8_t* data = jni_input(&call, state);
  if (!call.failed) status = polar_codec_load_state(data, bytes, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL CODEC(checkSameState)(JNIEnv* env, jclass type, jlong codec, jlong other) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_call_end(&call, polar_codec_check_same_state(jni_handle(codec), jni_handle(other)));
}
