/* SPDX-License-Identifier: MIT */
/* Index files in parts: builders, files merged, files opened as one index, and parts searched
 * apart. */
#include "operations.h"
#include "results.h"

/* paths, out, threads */
static polar_status run_merge_files(call* call) {
  const value* v = call->values;
  return polar_merge_files(v[0].count, v[0].data, v[1].data, work_of(call));
}

/* paths */
static polar_status run_open_shards(call* call) {
  const value* v = call->values;
  polar_index* made = NULL;
  polar_status status = polar_index_open_shards(v[0].count, v[0].data, &made);
  call->made = made;
  return status;
}

/* path */
static polar_status run_load_empty(call* call) {
  polar_index* made = NULL;
  polar_status status = polar_index_load_empty(call->values[0].data, &made);
  call->made = made;
  return status;
}

/* index, first row, queries, k, options */
static polar_status run_search_partial(call* call) {
  const value* v = call->values;
  const polar_index* index = v[0].object->handle;
  output* partial = &call->outputs[0];
  size_t capacity = 0, bytes = 0;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[2], v[0].object->dim, &nq);
  if (status != POLAR_OK) return status;
  do {
    size_t most = 0;
    const polar_status asked = polar_index_partial_bytes(index, nq, v[3].count, &most);
    if (asked != POLAR_OK) return asked;
    /* The error's text is that of the search before, which success does not clear. */
    if (most <= capacity) return status;
    capacity = most;
    status = make_output(call, 0, (int64_t)capacity, 1);
    if (status != POLAR_OK) return status;
    status = polar_index_search_partial(index, v[1].count, nq, v[2].data, v[3].count,
                                        search_of(call), capacity, partial->data, &bytes);
    /* Perhaps rows were added meanwhile, for which there is no memory. */
  } while (status == POLAR_ERROR_BAD_ARGUMENT);
  partial->count = (int64_t)bytes;
  return status;
}

/* partials one after the other, their sizes, nq, k, scores, ids */
static polar_status run_merge_partials(call* call) {
  value* v = call->values;
  const int64_t n = v[1].count;
  const uint8_t* next = v[0].data;
  const uint8_t** partials = call_memory(call, (size_t)n * sizeof *partials);
  size_t* bytes = call_memory(call, (size_t)n * sizeof *bytes);
  int64_t i, left = v[0].count;
  polar_status status = check_results(call, v[2].count, v[3].count, &v[4], &v[5]);
  if (status != POLAR_OK) return status;
  if (partials == NULL || bytes == NULL) return refuse_memory(call, "partials");
  for (i = 0; i < n; ++i) {
    const int64_t size = ((const int64_t*)v[1].data)[i];
    if (size < 0 || size > left) return refuse(call, "sizes: beyond the partials' bytes");
    partials[i] = next;
    bytes[i] = (size_t)size;
    next += size;
    left -= size;
  }
  status = polar_merge_partials(n, partials, bytes, v[2].count, v[3].count, v[4].data, v[5].data);
  return status == POLAR_OK ? finish_ids(call, &v[5]) : status;
}

/* memory bytes: 0 for the default */
static polar_builder_options builder_options(const value* memory_bytes) {
  polar_builder_options options;
  polar_builder_options_init(&options);
  if (memory_bytes->count != 0) options.memory_bytes = memory_bytes->count;
  return options;
}

/* index, path, memory bytes, whether to replace */
static polar_status run_create(call* call) {
  const value* v = call->values;
  polar_builder_options options = builder_options(&v[2]);
  polar_builder* made = NULL;
  polar_status status;
  options.replace = v[3].count != 0;
  status = polar_builder_create(v[0].object->handle, v[1].data, &options, &made);
  call->made = made;
  return status;
}

/* path, memory bytes */
static polar_status run_resume(call* call) {
  const value* v = call->values;
  const polar_builder_options options = builder_options(&v[1]);
  polar_builder* made = NULL;
  polar_status status = polar_builder_resume(v[0].data, &options, &made);
  call->made = made;
  return status;
}

static napi_value give_builder(napi_env env, call* call) {
  return give_object(env, call, OBJECT_BUILDER, polar_builder_dim(call->made));
}

/* builder, rows, threads */
static polar_status run_add(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status != POLAR_OK) return status;
  return polar_builder_add(v[0].object->handle, n, v[1].data, work_of(call));
}

/* builder, rows, ids, threads */
static polar_status run_add_with_ids(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status == POLAR_OK) status = check_count(call, "ids", &v[2], n);
  if (status != POLAR_OK) return status;
  return polar_builder_add_with_ids(v[0].object->handle, n, v[1].data, v[2].data, work_of(call));
}

static polar_status run_write_part(call* call) {
  return polar_builder_write_part(call->values[0].object->handle);
}

/* builder, threads */
static polar_status run_finish(call* call) {
  return polar_builder_finish(call->values[0].object->handle, work_of(call));
}

/* Asked without a turn, so that neither the event loop nor a callback waits for a change. */
static polar_status run_ntotal(call* call) {
  call->integer = atomic_load(&call->values[0].object->builder_rows);
  return POLAR_OK;
}

static polar_status run_written(call* call) {
  call->integer = atomic_load(&call->values[0].object->written_rows);
  return POLAR_OK;
}

static polar_status run_dim(call* call) {
  call->integer = call->values[0].object->dim;
  return POLAR_OK;
}

const operation build_operations[] = {
    {"mergeFiles", "tsT", run_merge_files, NULL, false, NULL},
    {"indexOpenShards", "t", run_open_shards, give_loaded_index, false, NULL},
    {"indexLoadEmpty", "s", run_load_empty, give_loaded_index, false, NULL},
    {"indexSearchPartial", "InfnS", run_search_partial, give_bytes, false, NULL},
    {"mergePartials", "uinnfj", run_merge_partials, NULL, false, NULL},
    {"builderCreate", "Isnn", run_create, give_builder, false, NULL},
    {"builderResume", "sn", run_resume, give_builder, false, NULL},
    {"builderAdd", "WfT", run_add, NULL, true, NULL},
    {"builderAddWithIds", "WfiT", run_add_with_ids, NULL, true, NULL},
    {"builderWritePart", "W", run_write_part, NULL, true, NULL},
    {"builderFinish", "WT", run_finish, NULL, true, NULL},
    {"builderNtotal", "W", run_ntotal, give_integer, false, NULL},
    {"builderWritten", "W", run_written, give_integer, false, NULL},
    {"builderDim", "W", run_dim, give_integer, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
