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
                                    polargo_index* out) {
  polar_index* made = NULL;
  const polargo_result result =
      polargo_result_of(polar_index_create(description, dim, metric, &made));
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_train(polargo_index index, int64_t n, const float* x,
                                   polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_train((polar_index*)index, n, x, &options));
}

polargo_result polargo_index_train_with_centroids(polargo_index index, int64_t nlist,
                                                  const float* centroids, int64_t n, const float* x,
                                                  polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_index_train_with_centroids((polar_index*)index, nlist, centroids, n, x, &options));
}

polargo_result polargo_index_add(polargo_index index, int64_t n, const float* x,
                                 polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_add((polar_index*)index, n, x, &options));
}

polargo_result polargo_index_add_with_ids(polargo_index index, int64_t n, const float* x,
                                          const int64_t* ids, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_add_with_ids((polar_index*)index, n, x, ids, &options));
}

polargo_result polargo_index_add_to_lists(polargo_index index, int64_t n, const float* x,
                                          const int64_t* ids, const int64_t* lists,
                                          polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_index_add_to_lists((polar_index*)index, n, x, ids, lists, &options));
}

polargo_result polargo_index_update(polargo_index index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_update((polar_index*)index, n, ids, x, &options));
}

polargo_result polargo_index_upsert(polargo_index index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_upsert((polar_index*)index, n, ids, x, &options));
}

polargo_result polargo_index_remove(polargo_index index, int64_t n, const int64_t* ids,
                                    int64_t* removed) {
  return polargo_result_of(polar_index_remove((polar_index*)index, n, ids, removed));
}

polargo_result polargo_index_remove_filtered(polargo_index index, polargo_filter given,
                                             int64_t* removed) {
  polar_filter filter;
  polargo_set_filter(&given, &filter);
  return polargo_result_of(polar_index_remove_filtered((polar_index*)index, &filter, removed));
}

polargo_result polargo_index_merge(polargo_index index, polargo_index other, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_index_merge((polar_index*)index, (polar_index*)other, &options));
}

polargo_result polargo_index_search(polargo_index index, int64_t nq, const float* queries,
                                    int64_t k, polargo_search search, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(
      polar_index_search((const polar_index*)index, nq, queries, k, &options, scores, ids));
}

polargo_result polargo_index_range_search(polargo_index index, int64_t nq, const float* queries,
                                          float radius, polargo_search search, int64_t capacity,
                                          int64_t* lims, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_index_range_search((const polar_index*)index, nq, queries, radius,
                                                    &options, capacity, lims, scores, ids));
}

polargo_result polargo_index_explain(polargo_index index, int64_t nq, int64_t k,
                                     polargo_search search, char* buf, size_t cap, size_t* needed) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(
      polar_index_explain((const polar_index*)index, nq, k, &options, buf, cap, needed));
}

polargo_result polargo_index_get_info(polargo_index index, polar_index_info* info) {
  return polargo_result_of(polar_index_get_info((const polar_index*)index, info));
}

polargo_result polargo_index_set_nprobe(polargo_index index, int64_t nprobe) {
  return polargo_result_of(polar_index_set_nprobe((polar_index*)index, nprobe));
}

polargo_result polargo_index_code_size(polargo_index index, size_t* bytes) {
  return polargo_result_of(polar_index_code_size((const polar_index*)index, bytes));
}

polargo_result polargo_index_memory_bytes(polargo_index index, size_t* bytes) {
  return polargo_result_of(polar_index_memory_bytes((const polar_index*)index, bytes));
}

polargo_result polargo_index_reconstruct(polargo_index index, int64_t id, float* x) {
  return polargo_result_of(polar_index_reconstruct((const polar_index*)index, id, x));
}

polargo_result polargo_index_clone(polargo_index index, polargo_index* out) {
  polar_index* made = NULL;
  const polargo_result result =
      polargo_result_of(polar_index_clone((const polar_index*)index, &made));
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_save(polargo_index index, const char* path, int32_t verify) {
  polar_save_options options;
  polar_save_options_init(&options);
  options.verify = verify;
  return polargo_result_of(polar_index_save((const polar_index*)index, path, &options));
}

polargo_result polargo_index_save_to(polargo_index index, uintptr_t callbacks) {
  return polargo_result_of(
      polar_index_save_to((const polar_index*)index, on_write, (void*)callbacks, NULL));
}

polargo_result polargo_index_load(const char* path, int32_t memory_map, int32_t trust_faiss,
                                  polargo_index* out) {
  polar_index* made = NULL;
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  options.trust_faiss = trust_faiss;
  const polargo_result result = polargo_result_of(polar_index_load(path, &options, &made));
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_load_from(uintptr_t callbacks, int32_t memory_map, int32_t trust_faiss,
                                       polargo_index* out) {
  polar_index* made = NULL;
  polar_load_options options;
  polar_load_options_init(&options);
  options.memory_map = memory_map;
  options.trust_faiss = trust_faiss;
  const polargo_result result =
      polargo_result_of(polar_index_load_from(on_read, (void*)callbacks, &options, &made));
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_verify(polargo_index index) {
  return polargo_result_of(polar_index_verify((const polar_index*)index));
}

void polargo_index_destroy(polargo_index index) { polar_index_destroy((polar_index*)index); }

size_t polargo_index_description(polargo_index index, char* buf, size_t cap) {
  return polar_index_description((const polar_index*)index, buf, cap);
}

int64_t polargo_index_ntotal(polargo_index index) {
  return polar_index_ntotal((const polar_index*)index);
}

int32_t polargo_index_is_trained(polargo_index index) {
  return polar_index_is_trained((const polar_index*)index);
}

int64_t polargo_index_nlist(polargo_index index) {
  return polar_index_nlist((const polar_index*)index);
}

int64_t polargo_index_nprobe(polargo_index index) {
  return polar_index_nprobe((const polar_index*)index);
}
