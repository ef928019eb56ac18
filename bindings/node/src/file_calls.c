/* SPDX-License-Identifier: MIT */
/* Indexes to and from files, and bytes in memory. */
#include <string.h>

#include "operations.h"
#include "results.h"

/* index, path, whether to verify */
static polar_status run_save(call* call) {
  const value* v = call->values;
  polar_save_options options;
  polar_save_options_init(&options);
  options.verify = v[2].count != 0;
  return polar_index_save(v[0].object->handle, v[1].data, &options);
}

/* Bytes that are written from front to back, as far as there is space. */
typedef struct written {
  uint8_t* data;
  size_t bytes, capacity;
} written;

/* polar_write_fn; user: written. */
static int32_t write_bytes(void* user, const void* data, size_t bytes) {
  written* written = user;
  if (bytes > 0 && written->bytes < written->capacity) {
    const size_t space = written->capacity - written->bytes;
    memcpy(written->data + written->bytes, data, bytes < space ? bytes : space);
  }
  written->bytes += bytes;
  return 0;
}

/* index, bytes: gives how many the index has, whether they fit or not */
static polar_status run_save_to_bytes(call* call) {
  const value* v = call->values;
  written written = {v[1].data, 0, (size_t)v[1].count};
  polar_status status = polar_index_save_to(v[0].object->handle, write_bytes, &written, NULL);
  call->integer = (int64_t)written.bytes;
  return status;
}

static polar_load_options load_options(const value* memory_map, const value* trust_faiss) {
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map != NULL && memory_map->count != 0;
  options.trust_faiss = trust_faiss->count != 0;
  return options;
}

/* path, memory map, trust FAISS */
static polar_status run_load(call* call) {
  const value* v = call->values;
  const polar_load_options options = load_options(&v[1], &v[2]);
  polar_index* made = NULL;
  polar_status status = polar_index_load(v[0].data, &options, &made);
  call->made = made;
  return status;
}

/* Bytes that are read from front to back. */
typedef struct remaining {
  const uint8_t* data;
  size_t bytes;
} remaining;

/* polar_read_fn; user: remaining. */
static int64_t take_bytes(void* user, void* data, size_t bytes) {
  remaining* remaining = user;
  if (bytes > remaining->bytes) bytes = remaining->bytes;
  if (bytes > 0) memcpy(data, remaining->data, bytes);
  remaining->data += bytes;
  remaining->bytes -= bytes;
  return (int64_t)bytes;
}

/* bytes, trust FAISS */
static polar_status run_load_from_bytes(call* call) {
  const value* v = call->values;
  const polar_load_options options = load_options(NULL, &v[1]);
  remaining remaining = {v[0].data, (size_t)v[0].count};
  polar_index* made = NULL;
  polar_status status = polar_index_load_from(take_bytes, &remaining, &options, &made);
  call->made = made;
  return status;
}

napi_value give_loaded_index(napi_env env, call* call) {
  polar_index_info info = {sizeof info};
  size_t bytes = 0;
  polar_index_get_info(call->made, &info);
  if (polar_index_memory_bytes(call->made, &bytes) == POLAR_OK) {
    call->measured_bytes = (int64_t)bytes;
  }
  return give_object(env, call, OBJECT_INDEX, info.dim);
}

static polar_status run_verify(call* call) {
  return polar_index_verify(call->values[0].object->handle);
}

const operation file_operations[] = {
    {"indexSave", "Isn", run_save, NULL, false, NULL},
    {"indexSaveToBytes", "Iu", run_save_to_bytes, give_integer, false, NULL},
    {"indexLoad", "snn", run_load, give_loaded_index, false, NULL},
    {"indexLoadFromBytes", "un", run_load_from_bytes, give_loaded_index, false, NULL},
    {"indexVerify", "I", run_verify, NULL, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
