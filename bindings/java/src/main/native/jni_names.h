/* SPDX-License-Identifier: MIT */
/* Java's classes, fields and methods that C uses, looked up once when the library is loaded. */
#ifndef POLARQUANT_JNI_NAMES_H
#define POLARQUANT_JNI_NAMES_H

#include <jni.h>

struct jni_names {
  jclass polar_exception;
  jmethodID polar_exception_create; /* static (int, byte[]) */
  jclass range_result;
  jmethodID range_result_new; /* (long[], float[], long[]) */
  jclass callbacks;
  jmethodID callbacks_progress; /* static (Progress, double): boolean */
  jmethodID callbacks_keep;     /* static (LongPredicate, long): boolean */
  jmethodID callbacks_write;    /* static (OutputStream, byte[], int) */
  jmethodID callbacks_read;     /* static (InputStream, byte[], int): int */

  jfieldID slice_memory, slice_kind, slice_offset, slice_count;
  jfieldID work_num_threads, work_progress;
  jfieldID search_num_threads, search_exactness, search_filter, search_progress, search_nprobe,
      search_ef_search, search_k_factor;
  jfieldID filter_kind, filter_numbers, filter_first, filter_end, filter_predicate, filter_prepared;
  jfieldID load_memory_map, load_trust_faiss;
};

extern struct jni_names jni_names;
extern JavaVM* jni_vm;

/* This thread's environment; a thread that Java does not know is attached until it ends. NULL when
 * Java takes no more threads. */
JNIEnv* jni_env_of_thread(void);

#endif
