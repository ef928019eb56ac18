/* SPDX-License-Identifier: MIT */
/* What happens when Java loads this library: names are looked up, and the versions compared. */
#include "jni_names.h"

#include <polarquant/polarquant.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PACKAGE "io/github/polarquant/"

struct jni_names jni_names;
JavaVM* jni_vm;

static pthread_key_t attached_key;
static pthread_once_t attached_once = PTHREAD_ONCE_INIT;
static bool has_attached_key;

static void detach_thread(void* vm) { (*(JavaVM*)vm)->DetachCurrentThread((JavaVM*)vm); }

static void make_attached_key(void) {
  has_attached_key = pthread_key_create(&attached_key, detach_thread) == 0;
}

JNIEnv* jni_env_of_thread(void) {
  void* env = NULL;
  if ((*jni_vm)->GetEnv(jni_vm, &env, JNI_VERSION_10) == JNI_OK) return (JNIEnv*)env;
  JavaVMAttachArgs arguments = {JNI_VERSION_10, "polarquant worker", NULL};
  /* A daemon: Java does not wait for it when the program ends. */
  if ((*jni_vm)->AttachCurrentThreadAsDaemon(jni_vm, &env, &arguments) != JNI_OK) return NULL;
  pthread_setspecific(attached_key, jni_vm);
  return (JNIEnv*)env;
}

/* A weak reference to a class, so that its class loader can go; it is used only while a method of
 * Java's package waits for C, which keeps the class. NULL with an exception pending. */
static jclass find_class(JNIEnv* env, const char* name) {
  const jclass local = (*env)->FindClass(env, name);
  if (local == NULL) return NULL;
  const jclass weak = (jclass)(*env)->NewWeakGlobalRef(env, local);
  (*env)->DeleteLocalRef(env, local);
  return weak;
}

struct wanted_field {
  jfieldID* id;
  const char* name;
  const char* type;
};

static bool find_fields(JNIEnv* env, const char* class_name, const struct wanted_field* fields,
                        size_t count) {
  const jclass holder = (*env)->FindClass(env, class_name);
  if (holder == NULL) return false;
  for (size_t i = 0; i < count; ++i) {
    *fields[i].id = (*env)->GetFieldID(env, holder, fields[i].name, fields[i].type);
    if (*fields[i].id == NULL) return false;
  }
  (*env)->DeleteLocalRef(env, holder);
  return true;
}

#define FIND_FIELDS(env, class_name, fields) \
  find_fields(env, PACKAGE class_name, fields, sizeof(fields) / sizeof((fields)[0]))

static bool find_all_fields(JNIEnv* env) {
  struct jni_names* n = &jni_names;
  const struct wanted_field slice[] = {{&n->slice_memory, "memory", "Ljava/lang/Object;"},
                                       {&n->slice_kind, "kind", "I"},
                                       {&n->slice_offset, "offset", "J"},
                                       {&n->slice_count, "count", "J"}};
  const struct wanted_field work[] = {{&n->work_num_threads, "numThreads", "I"},
                                      {&n->work_progress, "progress", "L" PACKAGE "Progress;"}};
  const struct wanted_field search[] = {{&n->search_num_threads, "numThreads", "I"},
                                        {&n->search_exactness, "exactness", "F"},
                                        {&n->search_filter, "filter", "L" PACKAGE "Filter;"},
                                        {&n->search_progress, "progress", "L" PACKAGE "Progress;"},
                                        {&n->search_nprobe, "nprobe", "J"},
                                        {&n->search_ef_search, "efSearch", "J"},
                                        {&n->search_k_factor, "kFactor", "D"}};
  const struct wanted_field filter[] = {
      {&n->filter_kind, "kind", "I"},
      {&n->filter_numbers, "numbers", "Ljava/nio/LongBuffer;"},
      {&n->filter_first, "first", "J"},
      {&n->filter_end, "end", "J"},
      {&n->filter_predicate, "predicate", "Ljava/util/function/LongPredicate;"},
      {&n->filter_prepared, "prepared", "J"}};
  const struct wanted_field load[] = {{&n->load_memory_map, "memoryMap", "Z"},
                                      {&n->load_trust_faiss, "trustFaiss", "Z"}};
  return FIND_FIELDS(env, "Slice", slice) && FIND_FIELDS(env, "WorkOptions", work) &&
         FIND_FIELDS(env, "SearchOptions", search) && FIND_FIELDS(env, "Filter", filter) &&
         FIND_FIELDS(env, "LoadOptions", load);
}

static bool find_methods(JNIEnv* env) {
  struct jni_names* n = &jni_names;
  n->polar_exception = find_class(env, PACKAGE "PolarException");
  if (n->polar_exception == NULL) return false;
  n->polar_exception_create = (*env)->GetStaticMethodID(env, n->polar_exception, "create",
                                                        "(I[B)L" PACKAGE "PolarException;");
  if (n->polar_exception_create == NULL) return false;
  n->range_result = find_class(env, PACKAGE "RangeResult");
  if (n->range_result == NULL) return false;
  n->range_result_new = (*env)->GetMethodID(env, n->range_result, "<init>", "([J[F[J)V");
  if (n->range_result_new == NULL) return false;
  n->callbacks = find_class(env, PACKAGE "Callbacks");
  if (n->callbacks == NULL) return false;
  const struct {
    jmethodID* id;
    const char* name;
    const char* type;
  } methods[] = {{&n->callbacks_progress, "progress", "(L" PACKAGE "Progress;D)Z"},
                 {&n->callbacks_keep, "keep", "(Ljava/util/function/LongPredicate;J)Z"},
                 {&n->callbacks_write, "write", "(Ljava/io/OutputStream;[BI)V"},
                 {&n->callbacks_read, "read", "(Ljava/io/InputStream;[BI)I"}};
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; ++i) {
    *methods[i].id = (*env)->GetStaticMethodID(env, n->callbacks, methods[i].name, methods[i].type);
    if (*methods[i].id == NULL) return false;
  }
  return true;
}

/* Structs may have other members in another minor version, before 1.0. */
static bool is_right_version(JNIEnv* env) {
  const int32_t version = polar_version();
  if (version / 100 == POLAR_VERSION_MAJOR * 100 + POLAR_VERSION_MINOR) return true;
  char text[120];
  snprintf(text, sizeof text, "polarquant: libpolarquant is version %d.%d; this needs %d.%d",
           (int)(version / 10000), (int)(version / 100 % 100), POLAR_VERSION_MAJOR,
           POLAR_VERSION_MINOR);
  const jclass link_error = (*env)->FindClass(env, "java/lang/UnsatisfiedLinkError");
  if (link_error != NULL) (*env)->ThrowNew(env, link_error, text);
  return false;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
  (void)reserved;
  void* env = NULL;
  jni_vm = vm;
  if ((*vm)->GetEnv(vm, &env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  pthread_once(&attached_once, make_attached_key);
  if (!has_attached_key) return JNI_ERR;
  if (!is_right_version((JNIEnv*)env) || !find_methods((JNIEnv*)env) ||
      !find_all_fields((JNIEnv*)env))
    return JNI_ERR;
  return JNI_VERSION_10;
}

/* When the class loader is gone. This library stays, and may be loaded again by another one. */
JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void* reserved) {
  (void)reserved;
  void* found = NULL;
  if ((*vm)->GetEnv(vm, &found, JNI_VERSION_10) != JNI_OK) return;
  JNIEnv* env = found;
  (*env)->DeleteWeakGlobalRef(env, jni_names.polar_exception);
  (*env)->DeleteWeakGlobalRef(env, jni_names.range_result);
  (*env)->DeleteWeakGlobalRef(env, jni_names.callbacks);
}
