/* SPDX-License-Identifier: MIT */
/* Indexes: made, searched, asked what they hold. Changes are in index_changes.c, files in
 * file_calls.c. */
#include <string.h>

#include "operations.h"
#include "results.h"

/* description, dim, metric */
static polar_status run_create(call* call) {
  const value* v = call->values;
  polar_index* made = NULL;
  polar_status status =
      polar_index_create(v[0].data, clamp_int32(v[1].count), clamp_int32(v[2].count), &made);
  call->made = made;
  return status;
}

static polar_status run_clone(call* call) {
  polar_index* made = NULL;
  polar_status status = polar_index_clone(call->values[0].object->handle, &made);
  call->made = made;
  return status;
}

static napi_value give_index(napi_env env, call* call) {
  polar_index_info info = {sizeof info};
  size_t bytes = 0;
  polar_index_get_info(call->made, &info);
  if (info.ntotal > 0 && polar_index_memory_bytes(call->made, &bytes) == POLAR_OK) {
    call->measured_bytes = (int64_t)bytes;
  }
  return give_object(env, call, OBJECT_INDEX, info.dim);
}

/* index, queries, k, scores, ids, options */
static polar_status run_search(call* call) {
  value* v = call->values;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status == POLAR_OK) status = check_results(call, nq, v[2].count, &v[3], &v[4]);
  if (status != POLAR_OK) return status;
  status = polar_index_search(v[0].object->handle, nq, v[1].data, v[2].count, search_of(call),
                              v[3].data, v[4].data);
  return status == POLAR_OK ? finish_ids(call, &v[4]) : status;
}

static polar_status search_range(call* call, int64_t nq, int64_t capacity, int64_t* lims,
                                 float* scores, int64_t* ids) {
  const value* v = call->values;
  return polar_index_range_search(v[0].object->handle, nq, v[1].data, (float)v[2].number,
                                  search_of(call), capacity, lims, scores, ids);
}

/* index, queries, radius, whether ids are bigints, options */
static polar_status run_index_range_search(call* call) {
  const value* v = call->values;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status != POLAR_OK) return status;
  return run_range_search(call, nq, v[3].count == 0, search_range);
}

/* index, nq, k, options */
static polar_status run_explain(call* call) {
  const value* v = call->values;
  const polar_index* index = v[0].object->handle;
  size_t capacity = 4096, needed = 0;
  for (;;) {
    polar_status status = make_output(call, 0, (int64_t)capacity, 1);
    if (status == POLAR_OK) {
      status = polar_index_explain(index, v[1].count, v[2].count, search_of(call),
                                   call->outputs[0].data, capacity, &needed);
    }
    if (status != POLAR_OK || needed < capacity) return status;
    capacity = needed + 1;
  }
}

static polar_status run_reconstruct(call* call) {
  const value* v = call->values;
  polar_status status = make_output(call, 0, v[0].object->dim, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_index_reconstruct(v[0].object->handle, v[1].count, call->outputs[0].data);
}

static polar_status run_info(call* call) {
  polar_index_info* info;
  polar_status status = make_output(call, 0, 1, sizeof *info);
  if (status != POLAR_OK) return status;
  info = call->outputs[0].data;
  info->struct_size = sizeof *info;
  return polar_index_get_info(call->values[0].object->handle, info);
}

static napi_value give_info(napi_env env, call* call) {
  const polar_index_info* info = call->outputs[0].data;
  napi_value result;
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  set_number(env, result, "dim", info->dim);
  set_number(env, result, "metric", info->metric);
  set_bool(env, result, "isTrained", info->is_trained != 0);
  set_number(env, result, "ntotal", (double)info->ntotal);
  return result;
}

static polar_status run_description(call* call) {
  const polar_index* index = call->values[0].object->handle;
  const size_t length = polar_index_description(index, NULL, 0);
  polar_status status = make_output(call, 0, (int64_t)length + 1, 1);
  if (status == POLAR_OK) polar_index_description(index, call->outputs[0].data, length + 1);
  return status;
}

static polar_status run_ntotal(call* call) {
  call->integer = polar_index_ntotal(call->values[0].object->handle);
  return POLAR_OK;
}

static polar_status run_is_trained(call* call) {
  call->integer = polar_index_is_trained(call->values[0].object->handle);
  return POLAR_OK;
}

static polar_status run_nlist(call* call) {
  call->integer = polar_index_nlist(call->values[0].object->handle);
  return POLAR_OK;
}

static polar_status run_nprobe(call* call) {
  call->integer = polar_index_nprobe(call->values[0].object->handle);
  return POLAR_OK;
}

static polar_status run_code_size(call* call) {
  size_t bytes = 0;
  polar_status status = polar_index_code_size(call->values[0].object->handle, &bytes);
  call->integer = (int64_t)bytes;
  return status;
}

static polar_status run_memory_bytes(call* call) {
  size_t bytes = 0;
  polar_status status = polar_index_memory_bytes(call->values[0].object->handle, &bytes);
  call->integer = (int64_t)bytes;
  return status;
}

/* options, whose filter it is */
static polar_status run_prepare_filter(call* call) {
  polar_prepared_filter* made = NULL;
  polar_status status = polar_prepared_filter_create(&call->filter, &made);
  call->made = made;
  return status;
}

static napi_value give_filter(napi_env env, call* call) {
  return give_object(env, call, OBJECT_FILTER, 0);
}

const operation index_operations[] = {
    {"indexCreate", "snn", run_create, give_index, false, NULL},
    {"indexClone", "I", run_clone, give_index, false, NULL},
    {"indexSearch", "IfnfjS", run_search, NULL, false, NULL},
    {"indexRangeSearch", "IfrnS", run_index_range_search, give_ranges, false, NULL},
    {"indexExplain", "InnS", run_explain, give_text, false, NULL},
    {"indexReconstruct", "In", run_reconstruct, give_floats, false, NULL},
    {"indexInfo", "I", run_info, give_info, false, NULL},
    {"indexDescription", "I", run_description, give_text, false, NULL},
    {"indexNtotal", "I", run_ntotal, give_integer, false, NULL},
    {"indexIsTrained", "I", run_is_trained, give_bool, false, NULL},
    {"indexNlist", "I", run_nlist, give_integer, false, NULL},
    {"indexNprobe", "I", run_nprobe, give_integer, false, NULL},
    {"indexCodeSize", "I", run_code_size, give_integer, false, NULL},
    {"indexMemoryBytes", "I", run_memory_bytes, give_integer, false, NULL},
    {"filterPrepare", "S", run_prepare_filter, give_filter, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
