/* SPDX-License-Identifier: MIT */
/*
 * One call from Java to the library: its memory, its arrays, its callbacks, and how it ends.
 *
 * Between jni_call_begin and jni_call_end a function asks for what the C function needs. What
 * fails on the way leaves an exception pending and `failed` set; the C function is then not called:
 *
 *   jni_call call;
 *   jni_call_begin(&call, env);
 *   const float* x = jni_input(&call, slice);
 *   polar_status status = POLAR_OK;
 *   if (!call.failed) status = polar_…(…, x, …);
 *   jni_call_end(&call, status);
 */
#ifndef POLARQUANT_JNI_CALL_H
#define POLARQUANT_JNI_CALL_H

#include <jni.h>
#include <polarquant/polarquant.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jni_names.h"

/* Enough for the queries and results of a short search, which then allocates nothing. */
#define JNI_CALL_NEAR_BYTES 16384

typedef struct jni_output jni_output;
typedef struct jni_memory jni_memory;

typedef struct jni_call {
  JNIEnv* env;
  bool failed;           /* an exception is pending: the library is not to be called */
  jobject progress;      /* global references, or NULL */
  jobject predicate;     /* */
  jobject stream;        /* an InputStream or OutputStream; of the calling thread */
  jbyteArray chunk;      /* that bytes go to the stream by */
  _Atomic(void*) thrown; /* the first exception of a callback, a global reference */
  jarray pinned;
  void* pinned_data;
  jni_output* outputs;
  jni_memory* memory;
  size_t near_used;
  _Alignas(16) char near[JNI_CALL_NEAR_BYTES];
} jni_call;

void jni_call_begin(jni_call* call, JNIEnv* env);
/* Ends the call: copies outputs to Java's arrays, or throws what a callback threw, or an exception
 * of the status with this thread's text. Frees all memory. True when nothing was thrown. */
bool jni_call_end(jni_call* call, polar_status status);

/* Memory that lasts as long as the call, on a 16-byte boundary. */
void* jni_take(jni_call* call, size_t bytes);
/* The elements of a Slice: those of a direct buffer where they lie, those of an array copied.
 * NULL for a NULL slice. */
void* jni_input(jni_call* call, jobject slice);
/* As jni_input, but an array stays where it lies, and holds the garbage collector back until the
 * call ends. For C functions that neither wait for another thread nor call back; with callbacks it
 * is copied. No other function of JNI may be called from here to jni_unpin or jni_call_end. */
void* jni_pin(jni_call* call, jobject slice);
void jni_unpin(jni_call* call);
/* Memory for the elements of a Slice to be written; an array is filled when the call ends. */
void* jni_output_of(jni_call* call, jobject slice);
/* Elements of a slice; 0 for NULL. */
int64_t jni_count(jni_call* call, jobject slice);
/* A byte[] closed by 0, copied. NULL for NULL. */
const char* jni_text(jni_call* call, jbyteArray bytes);

/* Throws the exception of a status with a text of the binding's own. */
void jni_fail(jni_call* call, polar_status status, const char* text);

/* A new byte[] with these bytes; NULL with an exception pending. */
jbyteArray jni_new_bytes(jni_call* call, const void* data, size_t bytes);

/* The text of a function that copies one into a buffer, as polar_last_error does. */
typedef size_t (*jni_text_fn)(const void* handle, char* buf, size_t cap);
jbyteArray jni_read_text(JNIEnv* env, jni_text_fn read, const void* handle);

static inline void* jni_handle(jlong handle) { return (void*)(intptr_t)handle; }
static inline jlong jni_address(const void* handle) { return (jlong)(intptr_t)handle; }

#endif
