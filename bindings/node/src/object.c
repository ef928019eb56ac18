/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>
#define free_aligned _aligned_free
#else
#define free_aligned free
#endif

const char* object_name(object_kind kind) {
  switch (kind) {
    case OBJECT_CODEC:
      return "Codec";
    case OBJECT_QUERY:
      return "Query";
    case OBJECT_INDEX:
      return "Index";
    case OBJECT_FILTER:
      return "PreparedFilter";
    case OBJECT_BLOCKS:
      return "CodeBlocks";
    case OBJECT_CUDA_INDEX:
      return "CudaIndex";
    case OBJECT_CUDA_ENCODER:
      return "CudaEncoder";
    case OBJECT_CUDA_CODEC:
      return "CudaCodec";
    case OBJECT_BUILDER:
      return "IndexBuilder";
  }
  return "object";
}

static void destroy_handle(object_kind kind, void* handle) {
  switch (kind) {
    case OBJECT_CODEC:
      polar_codec_destroy(handle);
      break;
    case OBJECT_QUERY:
      polar_query_destroy(handle);
      break;
    case OBJECT_INDEX:
      polar_index_destroy(handle);
      break;
    case OBJECT_FILTER:
      polar_prepared_filter_destroy(handle);
      break;
    case OBJECT_BLOCKS:
      break;
    case OBJECT_CUDA_INDEX:
      polar_cuda_index_destroy(handle);
      break;
    case OBJECT_CUDA_ENCODER:
      polar_cuda_encoder_destroy(handle);
      break;
    case OBJECT_CUDA_CODEC:
      polar_cuda_codec_destroy(handle);
      break;
    case OBJECT_BUILDER:
      polar_builder_destroy(handle);
      break;
  }
}

object* object_make(object_kind kind, void* handle, int32_t dim) {
  object* made = calloc(1, sizeof *made);
  if (made == NULL) {
    destroy_handle(kind, handle);
    return NULL;
  }
  made->kind = kind;
  made->handle = handle;
  made->dim = dim;
  thread_lock_init(&made->turns.lock);
  thread_condition_init(&made->turns.changed);
  return made;
}

/* Ends what nothing needs: the handle once it is closed, all of it once it is collected too. */
static void settle(napi_env env, object* object) {
  if (object->uses > 0 || !object->is_closed) return;
  destroy_handle(object->kind, object->handle);
  object->handle = NULL;
  free_aligned(object->blocks.data);
  object->blocks.data = NULL;
  object_tell_memory(env, object, 0);
  if (object->codec != NULL) {
    object_end_use(env, object->codec);
    object->codec = NULL;
  }
  if (object->is_collected) {
    thread_condition_destroy(&object->turns.changed);
    thread_lock_destroy(&object->turns.lock);
    free(object);
  }
}

static void collect(napi_env env, void* data, void* hint) {
  object* object = data;
  (void)hint;
  object->is_closed = object->is_collected = true;
  settle(env, object);
}

napi_value object_wrap(napi_env env, object* object) {
  napi_value wrapped;
  if (napi_create_external(env, object, collect, NULL, &wrapped) == napi_ok) return wrapped;
  collect(env, object, NULL);
  return NULL;
}

object* object_unwrap(napi_env env, napi_value value) {
  void* data = NULL;
  return napi_get_value_external(env, value, &data) == napi_ok ? data : NULL;
}

void object_close(napi_env env, object* object) {
  if (object->is_closed) return;
  object->is_closed = true;
  settle(env, object);
}

void object_use(object* object) { ++object->uses; }

void object_end_use(napi_env env, object* object) {
  --object->uses;
  settle(env, object);
}

polar_status object_read_codec(object* codec) {
  polar_codec_info info = {sizeof info};
  polar_status status = polar_codec_get_info(codec->handle, &info);
  if (status != POLAR_OK) return status;
  /* Read by other threads, too, and the same for ever. */
  if (codec->dim == 0) codec->dim = info.dim;
  codec->code_bytes = info.code_bytes;
  codec->group_rows = info.group_rows;
  return POLAR_OK;
}

void object_read_builder(object* builder) {
  atomic_store(&builder->builder_rows, polar_builder_ntotal(builder->handle));
  atomic_store(&builder->written_rows, polar_builder_written(builder->handle));
}

int64_t object_measure(object* object) {
  size_t bytes = 0;
  if (object->kind == OBJECT_INDEX) {
    const int64_t rows = polar_index_ntotal(object->handle);
    const int64_t change = rows - atomic_load(&object->measured_rows);
    /* Measuring takes longer than to add a row. */
    if ((change < 0 ? -change : change) <= 64 + rows / 8) return -1;
    atomic_store(&object->measured_rows, rows);
    polar_index_memory_bytes(object->handle, &bytes);
  } else if (object->kind == OBJECT_CODEC) {
    polar_codec_memory_bytes(object->handle, &bytes);
  } else if (object->kind == OBJECT_BLOCKS) {
    bytes = object->blocks.bytes;
  }
  return (int64_t)bytes;
}

void object_tell_memory(napi_env env, object* object, int64_t bytes) {
  int64_t total;
  if (bytes == object->told_bytes) return;
  napi_adjust_external_memory(env, bytes - object->told_bytes, &total);
  object->told_bytes = bytes;
}

void object_begin_turn(object* object, bool is_sole) {
  turns* turns = &object->turns;
  thread_lock_take(&turns->lock);
  while (turns->has_writer || (is_sole && turns->readers > 0)) {
    thread_condition_wait(&turns->changed, &turns->lock);
  }
  if (is_sole) {
    turns->has_writer = true;
  } else {
    ++turns->readers;
  }
  thread_lock_give(&turns->lock);
}

void object_end_turn(object* object, bool is_sole) {
  turns* turns = &object->turns;
  thread_lock_take(&turns->lock);
  if (is_sole) {
    turns->has_writer = false;
  } else {
    --turns->readers;
  }
  thread_condition_wake(&turns->changed);
  thread_lock_give(&turns->lock);
}
