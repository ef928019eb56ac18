/* SPDX-License-Identifier: MIT */
/* Memory and arrays of a call, and its end: jni_call.h. */
#include "jni_call.h"

#include <stdlib.h>
#include <string.h>

/* Slice.kind: what its memory has, and whether that is a direct buffer. */
enum { kKindFloats = 0, kKindBytes = 1, kKindLongs = 2, kKindMask = 3, kKindDirect = 4 };

struct jni_memory {
  jni_memory* next;
  _Alignas(16) char data[];
};

struct jni_output {
  jni_output* next;
  jarray array;
  int kind;
  jsize offset, count;
  const void* data;
};

typedef struct view {
  jobject memory;
  int kind;
  int64_t offset, count;
} view;

void jni_call_begin(jni_call* call, JNIEnv* env) {
  call->env = env;
  call->failed = false;
  call->progress = call->predicate = call->stream = NULL;
  call->chunk = NULL;
  atomic_init(&call->thrown, NULL);
  call->pinned = NULL;
  call->pinned_data = NULL;
  call->outputs = NULL;
  call->memory = NULL;
  call->near_used = 0;
}

jbyteArray jni_new_bytes(jni_call* call, const void* data, size_t bytes) {
  JNIEnv* env = call->env;
  if (bytes > INT32_MAX) {
    jni_fail(call, POLAR_ERROR_BAD_ARGUMENT, "bytes: more than a byte[] of Java's can hold");
    return NULL;
  }
  const jbyteArray made = (*env)->NewByteArray(env, (jsize)bytes);
  if (made == NULL) {
    call->failed = true;
    return NULL;
  }
  (*env)->SetByteArrayRegion(env, made, 0, (jsize)bytes, (const jbyte*)data);
  return made;
}

static void throw_status(JNIEnv* env, polar_status status, const char* text) {
  const jsize length = (jsize)strlen(text);
  const jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes == NULL) return;
  (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte*)text);
  const jobject made = (*env)->CallStaticObjectMethod(
      env, jni_names.polar_exception, jni_names.polar_exception_create, (jint)status, bytes);
  if (!(*env)->ExceptionCheck(env)) (*env)->Throw(env, (jthrowable)made);
}

void jni_fail(jni_call* call, polar_status status, const char* text) {
  if (call->failed) return;
  call->failed = true;
  throw_status(call->env, status, text);
}

/* With the text of this thread's last failed call. */
static void throw_last_error(JNIEnv* env, polar_status status) {
  char near[1024];
  const size_t length = polar_last_error(near, sizeof near);
  char* far = length < sizeof near ? NULL : malloc(length + 1);
  if (far != NULL) polar_last_error(far, length + 1);
  throw_status(env, status, far != NULL ? far : near);
  free(far);
}

void jni_unpin(jni_call* call) {
  if (call->pinned_data == NULL) return;
  /* Nothing was written to it. */
  (*call->env)
      ->ReleasePrimitiveArrayCritical(call->env, call->pinned, call->pinned_data, JNI_ABORT);
  call->pinned_data = NULL;
}

static void copy_outputs(jni_call* call) {
  JNIEnv* env = call->env;
  for (const jni_output* output = call->outputs; output != NULL; output = output->next) {
    switch (output->kind) {
      case kKindFloats:
        (*env)->SetFloatArrayRegion(env, (jfloatArray)output->array, output->offset, output->count,
                                    output->data);
        break;
      case kKindBytes:
        (*env)->SetByteArrayRegion(env, (jbyteArray)output->array, output->offset, output->count,
                                   output->data);
        break;
      default:
        (*env)->SetLongArrayRegion(env, (jlongArray)output->array, output->offset, output->count,
                                   output->data);
    }
    if ((*env)->ExceptionCheck(env)) {
      call->failed = true;
      return;
    }
  }
}

bool jni_call_end(jni_call* call, polar_status status) {
  JNIEnv* env = call->env;
  jni_unpin(call);
  const jobject thrown = atomic_load(&call->thrown);
  if (thrown != NULL) {
    if (!call->failed) (*env)->Throw(env, (jthrowable)thrown);
    call->failed = true;
    (*env)->DeleteGlobalRef(env, thrown);
  } else if (status != POLAR_OK && !call->failed) {
    throw_last_error(env, status);
    call->failed = true;
  } else if (!call->failed) {
    copy_outputs(call);
  }
  if (call->progress != NULL) (*env)->DeleteGlobalRef(env, call->progress);
  if (call->predicate != NULL) (*env)->DeleteGlobalRef(env, call->predicate);
  while (call->memory != NULL) {
    jni_memory* next = call->memory->next;
    free(call->memory);
    call->memory = next;
  }
  return !call->failed;
}

void* jni_take(jni_call* call, size_t bytes) {
  const size_t rounded = (bytes + 15) & ~(size_t)15;
  if (rounded >= bytes && rounded <= sizeof call->near - call->near_used) {
    void* taken = call->near + call->near_used;
    call->near_used += rounded;
    return taken;
  }
  jni_memory* made =
      rounded < bytes || bytes > SIZE_MAX / 2 ? NULL : malloc(sizeof(jni_memory) + bytes);
  if (made == NULL) {
    jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "no memory for a copy of an array of Java's");
    return NULL;
  }
  made->next = call->memory;
  call->memory = made;
  return made->data;
}

static size_t element_bytes(int kind) {
  switch (kind & kKindMask) {
    case kKindFloats:
      return sizeof(float);
    case kKindBytes:
      return 1;
    default:
      return sizeof(int64_t);
  }
}

static view read_slice(jni_call* call, jobject slice) {
  JNIEnv* env = call->env;
  const view read = {(*env)->GetObjectField(env, slice, jni_names.slice_memory),
                     (*env)->GetIntField(env, slice, jni_names.slice_kind),
                     (*env)->GetLongField(env, slice, jni_names.slice_offset),
                     (*env)->GetLongField(env, slice, jni_names.slice_count)};
  return read;
}

int64_t jni_count(jni_call* call, jobject slice) {
  if (slice == NULL || call->failed) return 0;
  return (*call->env)->GetLongField(call->env, slice, jni_names.slice_count);
}

static void* direct_data(jni_call* call, const view* from) {
  char* begin = (*call->env)->GetDirectBufferAddress(call->env, from->memory);
  if (begin == NULL) {
    jni_fail(call, POLAR_ERROR_UNSUPPORTED, "this Java gives C no direct buffers");
    return NULL;
  }
  char* data = begin + (size_t)from->offset * element_bytes(from->kind);
  if ((uintptr_t)data % element_bytes(from->kind) != 0) {
    jni_fail(call, POLAR_ERROR_BAD_ARGUMENT,
             "a direct buffer does not begin on a multiple of its elements' size; take it from the "
             "beginning of an allocateDirect");
    return NULL;
  }
  return data;
}

static void* copied_data(jni_call* call, const view* from) {
  JNIEnv* env = call->env;
  void* data = jni_take(call, (size_t)from->count * element_bytes(from->kind));
  if (data == NULL) return NULL;
  const jsize offset = (jsize)from->offset, count = (jsize)from->count;
  switch (from->kind) {
    case kKindFloats:
      (*env)->GetFloatArrayRegion(env, (jfloatArray)from->memory, offset, count, data);
      break;
    case kKindBytes:
      (*env)->GetByteArrayRegion(env, (jbyteArray)from->memory, offset, count, data);
      break;
    default:
      (*env)->GetLongArrayRegion(env, (jlongArray)from->memory, offset, count, data);
  }
  if ((*env)->ExceptionCheck(env)) {
    call->failed = true;
    return NULL;
  }
  return data;
}

void* jni_input(jni_call* call, jobject slice) {
  if (slice == NULL || call->failed) return NULL;
  const view from = read_slice(call, slice);
  return from.kind & kKindDirect ? direct_data(call, &from) : copied_data(call, &from);
}

void* jni_pin(jni_call* call, jobject slice) {
  if (slice == NULL || call->failed) return NULL;
  const view from = read_slice(call, slice);
  if (from.kind & kKindDirect) return direct_data(call, &from);
  const size_t bytes = (size_t)from.count * element_bytes(from.kind);
  const bool has_callbacks = call->progress != NULL || call->predicate != NULL;
  if (has_callbacks || call->pinned_data != NULL || bytes <= sizeof call->near - call->near_used)
    return copied_data(call, &from);
  call->pinned = (jarray)from.memory;
  call->pinned_data = (*call->env)->GetPrimitiveArrayCritical(call->env, call->pinned, NULL);
  if (call->pinned_data == NULL) {
    jni_fail(call, POLAR_ERROR_OUT_OF_MEMORY, "Java has no memory for an array to be read by C");
    return NULL;
  }
  return (char*)call->pinned_data + (size_t)from.offset * element_bytes(from.kind);
}

void* jni_output_of(jni_call* call, jobject slice) {
  if (slice == NULL || call->failed) return NULL;
  const view to = read_slice(call, slice);
  if (to.kind & kKindDirect) return direct_data(call, &to);
  jni_output* output = jni_take(call, sizeof(jni_output));
  void* data = output == NULL ? NULL : jni_take(call, (size_t)to.count * element_bytes(to.kind));
  if (data == NULL) return NULL;
  output->next = call->outputs;
  output->array = (jarray)to.memory;
  output->kind = to.kind;
  output->offset = (jsize)to.offset;
  output->count = (jsize)to.count;
  output->data = data;
  call->outputs = output;
  return data;
}

const char* jni_text(jni_call* call, jbyteArray bytes) {
  if (bytes == NULL || call->failed) return NULL;
  JNIEnv* env = call->env;
  const jsize length = (*env)->GetArrayLength(env, bytes);
  char* text = jni_take(call, (size_t)length + 1);
  if (text == NULL) return NULL;
  (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte*)text);
  text[length] = 0;
  return text;
}

jbyteArray jni_read_text(JNIEnv* env, jni_text_fn read, const void* handle) {
  jni_call call;
  jni_call_begin(&call, env);
  const size_t length = read(handle, NULL, 0);
  char* text = jni_take(&call, length + 1);
  jbyteArray made = NULL;
  if (text != NULL) {
    const size_t written = read(handle, text, length + 1);
    made = jni_new_bytes(&call, text, written < length ? written : length);
  }
  jni_call_end(&call, POLAR_OK);
  return made;
}
