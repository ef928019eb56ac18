/* SPDX-License-Identifier: MIT */
/* Options and filters of Java's, as the library takes them. */
#ifndef POLARQUANT_JNI_OPTIONS_H
#define POLARQUANT_JNI_OPTIONS_H

#include "jni_call.h"

typedef struct jni_search_options {
  polar_search_options options;
  polar_filter filter;
} jni_search_options;

/* Each fills *memory from an object of Java's and returns what the library is given: NULL, for the
 * defaults, of a null object. What they point to lasts as long as the call. */
const polar_search_options* jni_read_search_options(jni_call* call, jobject options,
                                                    jni_search_options* memory);
const polar_work_options* jni_read_work_options(jni_call* call, jobject options,
                                                polar_work_options* memory);
const polar_load_options* jni_read_load_options(jni_call* call, jobject options,
                                                polar_load_options* memory);
void jni_read_filter(jni_call* call, jobject filter, polar_filter* filled);
/* A global reference to a Progress, for callbacks from any thread. */
void jni_use_progress(jni_call* call, jobject progress);

#endif
