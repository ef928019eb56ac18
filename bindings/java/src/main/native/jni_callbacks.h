/* SPDX-License-Identifier: MIT */
/* What the library calls during a call: Java's progress, predicates and streams. Each takes the
 * jni_call as its user. An exception of Java's is kept, ends the call soon, and is thrown by
 * jni_call_end. */
#ifndef POLARQUANT_JNI_CALLBACKS_H
#define POLARQUANT_JNI_CALLBACKS_H

#include "jni_call.h"

/* polar_progress_fn: stops where Java says so or has thrown. */
int32_t jni_on_progress(void* user, double done);
/* polar_keep_fn: Java's predicate; keeps nothing once it has thrown. */
int32_t jni_on_keep(void* user, int64_t id);
/* polar_write_fn and polar_read_fn: the stream of jni_use_stream, on the calling thread. */
int32_t jni_on_write(void* user, const void* data, size_t bytes);
int64_t jni_on_read(void* user, void* data, size_t bytes);

/* Gives the call its stream, and a byte[] to fill it by. */
void jni_use_stream(jni_call* call, jobject stream);

#endif
