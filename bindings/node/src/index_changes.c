/* SPDX-License-Identifier: MIT */
/* Changes of indexes. The library lets searches run beside them. */
#include "operations.h"
#include "results.h"

/* index, rows, threads */
static polar_status run_train(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status != POLAR_OK) return status;
  return polar_index_train(v[0].object->handle, n, v[1].data, work_of(call));
}

/* index, centroids, rows, threads */
static polar_status run_train_with_centroids(call* call) {
  const value* v = call->values;
  int64_t n, nlist;
  polar_status status = count_rows(call, "centroids", &v[1], v[0].object->dim, &nlist);
  if (status == POLAR_OK) status = count_rows(call, "x", &v[2], v[0].object->dim, &n);
  if (status != POLAR_OK) return status;
  return polar_index_train_with_centroids(v[0].object->handle, nlist, v[1].data, n, v[2].data,
                                          work_of(call));
}

static polar_status run_add(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status != POLAR_OK) return status;
  return polar_index_add(v[0].object->handle, n, v[1].data, work_of(call));
}

/* index, rows, ids, threads */
static polar_status run_add_with_ids(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status == POLAR_OK) status = check_count(call, "ids", &v[2], n);
  if (status != POLAR_OK) return status;
  return polar_index_add_with_ids(v[0].object->handle, n, v[1].data, v[2].data, work_of(call));
}

/* index, rows, ids, lists, threads */
static polar_status run_add_to_lists(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status == POLAR_OK) status = check_count(call, "ids", &v[2], n);
  if (status == POLAR_OK) status = check_count(call, "lists", &v[3], n);
  if (status != POLAR_OK) return status;
  return polar_index_add_to_lists(v[0].object->handle, n, v[1].data, v[2].data, v[3].data,
                                  work_of(call));
}

static polar_status run_remove(call* call) {
  const value* v = call->values;
  return polar_index_remove(v[0].object->handle, v[1].count, v[1].data, &call->integer);
}

/* index, options, whose filter it is */
static polar_status run_remove_filtered(call* call) {
  return polar_index_remove_filtered(call->values[0].object->handle, &call->filter, &call->integer);
}

/* index, ids, rows, threads */
static polar_status run_update(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[2], v[0].object->dim, &n);
  if (status == POLAR_OK) status = check_count(call, "ids", &v[1], n);
  if (status != POLAR_OK) return status;
  return polar_index_update(v[0].object->handle, n, v[1].data, v[2].data, work_of(call));
}

static polar_status run_upsert(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[2], v[0].object->dim, &n);
  if (status == POLAR_OK) status = check_count(call, "ids", &v[1], n);
  if (status != POLAR_OK) return status;
  return polar_index_upsert(v[0].object->handle, n, v[1].data, v[2].data, work_of(call));
}

/* index, other, threads */
static polar_status run_merge(call* call) {
  const value* v = call->values;
  return polar_index_merge(v[0].object->handle, v[1].object->handle, work_of(call));
}

static polar_status run_set_nprobe(call* call) {
  const value* v = call->values;
  return polar_index_set_nprobe(v[0].object->handle, v[1].count);
}

const operation index_change_operations[] = {
    {"indexTrain", "IfT", run_train, NULL, true, NULL},
    {"indexTrainWithCentroids", "IffT", run_train_with_centroids, NULL, true, NULL},
    {"indexAdd", "IfT", run_add, NULL, true, NULL},
    {"indexAddWithIds", "IfiT", run_add_with_ids, NULL, true, NULL},
    {"indexAddToLists", "IfiiT", run_add_to_lists, NULL, true, NULL},
    {"indexRemove", "Ii", run_remove, give_integer, true, NULL},
    {"indexRemoveFiltered", "IS", run_remove_filtered, give_integer, true, NULL},
    {"indexUpdate", "IifT", run_update, NULL, true, NULL},
    {"indexUpsert", "IifT", run_upsert, NULL, true, NULL},
    {"indexMerge", "IIT", run_merge, NULL, true, NULL},
    {"indexSetNprobe", "In", run_set_nprobe, NULL, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
