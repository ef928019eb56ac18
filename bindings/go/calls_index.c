/* SPDX-License-Identifier: MIT */
#include "call_options.h"

/* callbacks.go has these. */
extern int32_t polargoWrite(uintptr_t callbacks, void* data, size_t bytes);
extern int64_t polargoRead(uintptr_t callbacks, void* data, size_t bytes);

static int32_t on_write(void* callbacks, const void* data, size_t bytes) {
  return polargoWrite((uintptr_t)callbacks, (void*)data, bytes);
}

static int64_t on_read(void* callbacks, void* data, size_t bytes) {
  return polargoRead((uintptr_t)callbacks, data, bytes);
}

polargo_result polargo_index_create(const char* description, int32_t dim, polar_metric metric,
                                    polar_index** out) {
  return polargo_result_of(polar_index_create(description, dim, metric, out));
}

polargo_result polargo_index_train(polar_index* index, int64_t n, const float* x,
                                   polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_train(index, n, x, &options));
}

polargo_result polargo_index_train_with_centroids(polar_index* index, int64_t nlist,
                                                  const float* centroids, int64_t n, const float* x,
                                                  polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_index_train_with_centroids(index, nlist, centroids, n, x, &options));
}

polargo_result polargo_index_add(polar_index* index, int64_t n, const float* x, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_add(index, n, x, &options));
}

polargo_result polargo_index_add_with_ids(polar_index* index, int64_t n, const float* x,
                                          const int64_t* ids, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_add_with_ids(index, n, x, ids, &options));
}

polargo_result polargo_index_add_to_lists(polar_index* index, int64_t n, const float* x,
                                          const int64_t* ids, const int64_t* lists,
                                          polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_add_to_lists(index, n, x, ids, lists, &options));
}

polargo_result polargo_index_update(polar_index* index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_update(index, n, ids, x, &options));
}

polargo_result polargo_index_upsert(polar_index* index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_upsert(index, n, ids, x, &options));
}

polargo_result polargo_index_remove(polar_index* index, int64_t n, const int64_t* ids,
                                    int64_t* removed) {
  return polargo_result_of(polar_index_remove(index, n, ids, removed));
}

polargo_result polargo_index_remove_filtered(polar_index* index, polargo_filter given,
                                             int64_t* removed) {
  polar_filter filter;
  polargo_set_filter(&given, &filter);
  return polargo_result_of(polar_index_remove_filtered(index, &filter, removed));
}

polargo_result polargo_index_merge(polar_index* index, polar_index* other, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_merge(index, other, &options));
}

polargo_result polargo_index_search(const polar_index* index, int64_t nq, const float* queries,
                                    int64_t k, polargo_search search, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_index_search(index, nq, queries, k, &options, scores, ids));
}

polargo_result polargo_index_range_search(const polar_index* index, int64_t nq,
                                          const float* queries, float radius, polargo_search search,
                                          int64_t capacity, int64_t* lims, float* scores,
                                          int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(
      polar_index_range_search(index, nq, queries, radius, &options, capacity, lims, scores, ids));
}

polargo_result polargo_index_explain(const polar_index* index, int64_t nq, int64_t k,
                                     polargo_search search, char* buf, size_t cap, size_t* needed) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_index_explain(index, nq, k, &options, buf, cap, needed));
}

polargo_result polargo_index_get_info(const polar_index* index, polar_index_info* info) {
  return polargo_result_of(polar_index_get_info(index, info));
}

polargo_result polargo_index_set_nprobe(polar_index* index, int64_t nprobe) {
  return polargo_result_of(polar_index_set_nprobe(index, nprobe));
}

polargo_result polargo_index_code_size(const polar_index* index, size_t* bytes) {
  return polargo_result_of(polar_index_code_size(index, bytes));
}

polargo_result polargo_index_memory_bytes(const polar_index* index, size_t* bytes) {
  return polargo_result_of(polar_index_memory_bytes(index, bytes));
}

polargo_result polargo_index_reconstruct(const polar_index* index, int64_t id, float* x) {
  return polargo_result_of(polar_index_reconstruct(index, id, x));
}

polargo_result polargo_index_clone(const polar_index* index, polar_index** out) {
  return polargo_result_of(polar_index_clone(index, out));
}

polargo_result polargo_index_save(const polar_index* index, const char* path, int32_t verify) {
  polar_save_options options;
  polar_save_options_init(&options);
  options.verify = verify;
  return polargo_result_of(polar_index_save(index, path, &options));
}

polargo_result polargo_index_save_to(const polar_index* index, uintptr_t callbacks) {
  return polargo_result_of(polar_index_save_to(index, on_write, (void*)callbacks, NULL));
}

polargo_result polargo_index_load(const char* path, int32_t memory_map, int32_t trust_faiss,
                                  polar_index** out) {
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  options.trust_faiss = trust_faiss;
  return polargo_result_of(polar_index_load(path, &options, out));
}

polargo_result polargo_index_load_from(uintptr_t callbacks, int32_t memory_map, int32_t trust_faiss,
                                       polar_index** out) {
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  options.trust_faiss = trust_faiss;
  return polargo_result_of(polar_index_load_from(on_read, (void*)callbacks, &options, out));
}

polargo_result polargo_index_verify(const polar_index* index) {
  return polargo_result_of(polar_index_verify(index));
}
