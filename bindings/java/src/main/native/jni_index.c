/* SPDX-License-Identifier: MIT */
/* Indexes: making, training, changing and describing them. NativeIndex.java says what each takes.
 */
#include "io_github_polarquant_NativeIndex.h"
#include "jni_call.h"
#include "jni_options.h"

#define INDEX(name) Java_io_github_polarquant_NativeIndex_##name

JNIEXPORT jlong JNICALL INDEX(create)(JNIEnv* env, jclass type, jbyteArray description, jint dim,
                                      jint metric) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_index* made = NULL;
  polar_status status = POLAR_OK;
  const char* text = jni_text(&call, description);
  if (!call.failed) status = polar_index_create(text, dim, metric, &made);
  jni_call_end(&call, status);
  return jni_address(made);
}

JNIEXPORT void JNICALL INDEX(destroy)(JNIEnv* env, jclass type, jlong index) {
  (void)env;
  (void)type;
  polar_index_destroy(jni_handle(index));
}

JNIEXPORT void JNICALL INDEX(train)(JNIEnv* env, jclass type, jlong index, jlong n, jobject x,
                                    jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = polar_index_train(jni_handle(index), n, rows, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(trainWithCentroids)(JNIEnv* env, jclass type, jlong index, jlong nlist,
                                                 jobject centroids, jlong n, jobject x,
                                                 jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* lists = jni_input(&call, centroids);
  const float* rows = jni_input(&call, x);
  if (!call.failed)
    status = polar_index_train_with_centroids(jni_handle(index), nlist, lists, n, rows, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(add)(JNIEnv* env, jclass type, jlong index, jlong n, jobject x,
                                  jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = polar_index_add(jni_handle(index), n, rows, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(addWithIds)(JNIEnv* env, jclass type, jlong index, jlong n, jobject x,
                                         jobject ids, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  const int64_t* row_ids = jni_input(&call, ids);
  if (!call.failed) status = polar_index_add_with_ids(jni_handle(index), n, rows, row_ids, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(addToLists)(JNIEnv* env, jclass type, jlong index, jlong n, jobject x,
                                         jobject ids, jobject lists, jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const float* rows = jni_input(&call, x);
  const int64_t* row_ids = jni_input(&call, ids);
  const int64_t* row_lists = jni_input(&call, lists);
  if (!call.failed)
    status = polar_index_add_to_lists(jni_handle(index), n, rows, row_ids, row_lists, given);
  jni_call_end(&call, status);
}

typedef polar_status (*replace_fn)(polar_index*, int64_t, const int64_t*, const float*,
                                   const polar_work_options*);

static void replace(JNIEnv* env, replace_fn function, jlong index, jlong n, jobject ids, jobject x,
                    jobject options) {
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  const int64_t* row_ids = jni_input(&call, ids);
  const float* rows = jni_input(&call, x);
  if (!call.failed) status = function(jni_handle(index), n, row_ids, rows, given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(update)(JNIEnv* env, jclass type, jlong index, jlong n, jobject ids,
                                     jobject x, jobject options) {
  (void)type;
  replace(env, polar_index_update, index, n, ids, x, options);
}

JNIEXPORT void JNICALL INDEX(upsert)(JNIEnv* env, jclass type, jlong index, jlong n, jobject ids,
                                     jobject x, jobject options) {
  (void)type;
  replace(env, polar_index_upsert, index, n, ids, x, options);
}

JNIEXPORT jlong JNICALL INDEX(remove)(JNIEnv* env, jclass type, jlong index, jlong n, jobject ids) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  int64_t removed = 0;
  const int64_t* row_ids = jni_input(&call, ids);
  if (!call.failed) status = polar_index_remove(jni_handle(index), n, row_ids, &removed);
  jni_call_end(&call, status);
  return removed;
}

JNIEXPORT jlong JNICALL INDEX(removeFiltered)(JNIEnv* env, jclass type, jlong index,
                                              jobject filter) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  int64_t removed = 0;
  polar_filter wanted;
  jni_read_filter(&call, filter, &wanted);
  if (!call.failed) status = polar_index_remove_filtered(jni_handle(index), &wanted, &removed);
  jni_call_end(&call, status);
  return removed;
}

JNIEXPORT void JNICALL INDEX(merge)(JNIEnv* env, jclass type, jlong index, jlong other,
                                    jobject options) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_status status = POLAR_OK;
  polar_work_options work;
  const polar_work_options* given = jni_read_work_options(&call, options, &work);
  if (!call.failed) status = polar_index_merge(jni_handle(index), jni_handle(other), given);
  jni_call_end(&call, status);
}

JNIEXPORT void JNICALL INDEX(setNprobe)(JNIEnv* env, jclass type, jlong index, jlong nprobe) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  jni_call_end(&call, polar_index_set_nprobe(jni_handle(index), nprobe));
}

JNIEXPORT jlong JNICALL INDEX(copy)(JNIEnv* env, jclass type, jlong index) {
  (void)type;
  jni_call call;
  jni_call_begin(&call, env);
  polar_index* made = NULL;
  const polar_status status = polar_index_clone(jni_handle(index), &made);
  jni_call_end(&call, status);
  return jni_address(made);
}
