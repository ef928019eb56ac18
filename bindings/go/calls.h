/* SPDX-License-Identifier: MIT */
/*
 * The calls that Go makes. Each does one call of the library and, where that fails, takes the
 * error's text on the same thread: a goroutine may be on another thread by its next call.
 *
 * Structs that hold pointers are passed by value or made here, never in memory of Go's, so that no
 * memory of Go's that C sees holds a pointer to other memory of Go's.
 */
#ifndef POLARQUANT_GO_CALLS_H
#define POLARQUANT_GO_CALLS_H

#include <polarquant/polarquant.h>
#include <stddef.h>
#include <stdint.h>

/* Objects of the library, by their addresses: as numbers, since Go's checks of pointers would take
 * longer than the calls. */
typedef uintptr_t polargo_prepared_filter;
typedef uintptr_t polargo_codec;
typedef uintptr_t polargo_query;
typedef uintptr_t polargo_index;
typedef uintptr_t polargo_builder;
typedef uintptr_t polargo_advice;
typedef uintptr_t polargo_cuda_index;
typedef uintptr_t polargo_cuda_encoder;
typedef uintptr_t polargo_cuda_codec;

/* What a call returned. */
typedef struct polargo_result {
  polar_status status;
  char* text; /* of the error, for free(); NULL where there is none, or no memory for it */
} polargo_result;

/* How a call is told to stop, and whom it tells how far it is. */
typedef struct polargo_watch {
  const int32_t* stop; /* set to 1 at any time to stop the call; NULL: it cannot be stopped */
  uintptr_t callbacks; /* a cgo.Handle of functions of Go's; 0: there are none */
} polargo_watch;

typedef struct polargo_work {
  int32_t num_threads;
  polargo_watch watch;
} polargo_work;

/* A filter. `kind` tells which member is read. */
typedef struct polargo_filter {
  polar_filter_kind kind;
  int64_t count; /* of words or ids */
  const uint64_t* words;
  const int64_t* ids;
  polar_id_range range;
  uintptr_t callbacks; /* a cgo.Handle */
  polargo_prepared_filter prepared;
} polargo_filter;

typedef struct polargo_search {
  int32_t num_threads;
  float exactness; /* 0: the default */
  int64_t nprobe;
  int64_t ef_search;
  double k_factor;
  polargo_filter filter;
  polargo_watch watch;
} polargo_search;

/* ---- Filters and codecs: calls_codec.c ------------------------------------------------------ */

polargo_result polargo_prepared_filter_create(polargo_filter filter, polargo_prepared_filter* out);

void polargo_prepared_filter_destroy(polargo_prepared_filter filter);

/* centre: (dim), or NULL. seed 0: the default. */
polargo_result polargo_codec_create(const char* spec, int32_t dim, polar_metric metric,
                                    uint64_t seed, int32_t learn_centre, double norm_unit,
                                    const float* centre, polargo_codec* out);
void polargo_codec_destroy(polargo_codec codec);
void polargo_query_destroy(polargo_query query);
size_t polargo_codec_spec(polargo_codec codec, char* buf, size_t cap);
polargo_result polargo_codec_get_info(polargo_codec codec, polar_codec_info* info);
polargo_result polargo_codec_get_centre(polargo_codec codec, float* centre);
polargo_result polargo_codec_memory_bytes(polargo_codec codec, size_t* bytes);
polargo_result polargo_codec_train(polargo_codec codec, int64_t n, const float* x,
                                   polargo_work work);
polargo_result polargo_codec_get_plan(polargo_codec codec, polar_codec_plan* plan,
                                      polar_segment* segments, int64_t cap);
polargo_result polargo_codec_drift(polargo_codec codec, int64_t n, const float* x,
                                   polargo_work work, double* drift);
polargo_result polargo_codec_encoded_bytes(polargo_codec codec, int64_t n, size_t* bytes);
polargo_result polargo_codec_encode(polargo_codec codec, int64_t n, const float* x,
                                    polargo_work work, uint8_t* codes, size_t codes_bytes);
polargo_result polargo_codec_decode(polargo_codec codec, int64_t n, const uint8_t* codes,
                                    size_t codes_bytes, polar_reconstruction kind,
                                    polargo_work work, float* x);
polargo_result polargo_query_prepare(polargo_codec codec, const float* q, polargo_query* out);
polargo_result polargo_query_prepare_from_code(polargo_codec codec, int64_t n, const uint8_t* codes,
                                               size_t codes_bytes, int64_t row, polargo_query* out);
polargo_result polargo_codec_score(polargo_codec codec, polargo_query query, int64_t n,
                                   const uint8_t* codes, size_t codes_bytes, polargo_work work,
                                   float* scores);
polargo_result polargo_codec_search(polargo_codec codec, int64_t nq, const float* queries,
                                    int64_t n, const uint8_t* codes, size_t codes_bytes, int64_t k,
                                    polargo_search search, float* scores, int64_t* ids);
polargo_result polargo_codec_range_search(polargo_codec codec, int64_t nq, const float* queries,
                                          int64_t n, const uint8_t* codes, size_t codes_bytes,
                                          float radius, polargo_search search, int64_t capacity,
                                          int64_t* lims, float* scores, int64_t* ids);
polargo_result polargo_codec_score_codes(polargo_codec codec, int64_t na, const uint8_t* codes_a,
                                         size_t codes_a_bytes, int64_t nb, const uint8_t* codes_b,
                                         size_t codes_b_bytes, polargo_work work, float* scores);
polargo_result polargo_codec_combine(polargo_codec codec, int64_t n, const uint8_t* codes,
                                     size_t codes_bytes, int64_t nw, const float* weights,
                                     polargo_work work, float* out);
polargo_result polargo_codec_save_state(polargo_codec codec, uint8_t* buf, size_t cap,
                                        size_t* needed);
polargo_result polargo_codec_load_state(const uint8_t* data, size_t bytes, polargo_codec* out);
polargo_result polargo_codec_check_same_state(polargo_codec a, polargo_codec b);

/* ---- Blocks: calls_blocks.c; *rows becomes the rows held, the memory is Go's ------------------
 */

polargo_result polargo_blocks_bytes(polargo_codec codec, int64_t n, size_t* bytes);
polargo_result polargo_blocks_append(polargo_codec codec, polar_blocks blocks, int64_t n,
                                     const uint8_t* codes, size_t codes_bytes, int64_t* rows);
polargo_result polargo_blocks_get(polargo_codec codec, polar_blocks blocks, int64_t first,
                                  int64_t count, uint8_t* codes, size_t codes_bytes);
polargo_result polargo_blocks_overwrite(polargo_codec codec, polar_blocks blocks, int64_t row,
                                        const uint8_t* code, size_t code_bytes);
polargo_result polargo_blocks_remove(polargo_codec codec, polar_blocks blocks,
                                     const uint64_t* removed, int64_t* rows);
polargo_result polargo_blocks_swap_remove(polargo_codec codec, polar_blocks blocks, int64_t row,
                                          int64_t* rows);
polargo_result polargo_blocks_search(polargo_codec codec, polar_blocks blocks, int64_t nq,
                                     const float* queries, int64_t k, polargo_search search,
                                     float* scores, int64_t* ids);
polargo_result polargo_blocks_range_search(polargo_codec codec, polar_blocks blocks, int64_t nq,
                                           const float* queries, float radius,
                                           polargo_search search, int64_t capacity, int64_t* lims,
                                           float* scores, int64_t* ids);

/* ---- Indexes: calls_index.c ------------------------------------------------------------------ */

polargo_result polargo_index_create(const char* description, int32_t dim, polar_metric metric,
                                    polargo_index* out);
void polargo_index_destroy(polargo_index index);
size_t polargo_index_description(polargo_index index, char* buf, size_t cap);
int64_t polargo_index_ntotal(polargo_index index);
int32_t polargo_index_is_trained(polargo_index index);
int64_t polargo_index_nlist(polargo_index index);
int64_t polargo_index_nprobe(polargo_index index);
polargo_result polargo_index_train(polargo_index index, int64_t n, const float* x,
                                   polargo_work work);
polargo_result polargo_index_train_with_centroids(polargo_index index, int64_t nlist,
                                                  const float* centroids, int64_t n, const float* x,
                                                  polargo_work work);
polargo_result polargo_index_add(polargo_index index, int64_t n, const float* x, polargo_work work);
polargo_result polargo_index_add_with_ids(polargo_index index, int64_t n, const float* x,
                                          const int64_t* ids, polargo_work work);
polargo_result polargo_index_add_to_lists(polargo_index index, int64_t n, const float* x,
                                          const int64_t* ids, const int64_t* lists,
                                          polargo_work work);
polargo_result polargo_index_update(polargo_index index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work);
polargo_result polargo_index_upsert(polargo_index index, int64_t n, const int64_t* ids,
                                    const float* x, polargo_work work);
polargo_result polargo_index_remove(polargo_index index, int64_t n, const int64_t* ids,
                                    int64_t* removed);
polargo_result polargo_index_remove_filtered(polargo_index index, polargo_filter filter,
                                             int64_t* removed);
polargo_result polargo_index_merge(polargo_index index, polargo_index other, polargo_work work);
polargo_result polargo_index_search(polargo_index index, int64_t nq, const float* queries,
                                    int64_t k, polargo_search search, float* scores, int64_t* ids);
polargo_result polargo_index_range_search(polargo_index index, int64_t nq, const float* queries,
                                          float radius, polargo_search search, int64_t capacity,
                                          int64_t* lims, float* scores, int64_t* ids);
polargo_result polargo_index_explain(polargo_index index, int64_t nq, int64_t k,
                                     polargo_search search, char* buf, size_t cap, size_t* needed);
polargo_result polargo_index_get_info(polargo_index index, polar_index_info* info);
polargo_result polargo_index_set_nprobe(polargo_index index, int64_t nprobe);
polargo_result polargo_index_code_size(polargo_index index, size_t* bytes);
polargo_result polargo_index_memory_bytes(polargo_index index, size_t* bytes);
polargo_result polargo_index_reconstruct(polargo_index index, int64_t id, float* x);
polargo_result polargo_index_clone(polargo_index index, polargo_index* out);
polargo_result polargo_index_save(polargo_index index, const char* path, int32_t verify);
polargo_result polargo_index_save_to(polargo_index index, uintptr_t callbacks);
polargo_result polargo_index_load(const char* path, int32_t memory_map, int32_t trust_faiss,
                                  polargo_index* out);
polargo_result polargo_index_load_from(uintptr_t callbacks, int32_t memory_map, int32_t trust_faiss,
                                       polargo_index* out);
polargo_result polargo_index_verify(polargo_index index);

/* ---- Index files in parts: calls_build.c; paths are n texts, one after the other, each closed by
 * 0
 */

polargo_result polargo_merge_files(int64_t n, const char* paths, const char* out,
                                   polargo_work work);
polargo_result polargo_index_open_shards(int64_t n, const char* paths, polargo_index* out);
polargo_result polargo_index_load_empty(const char* path, polargo_index* out);
/* *partial, *bytes of them, is for free(); NULL after an error. */
polargo_result polargo_index_search_partial(polargo_index index, int64_t first_row, int64_t nq,
                                            const float* queries, int64_t k, polargo_search search,
                                            uint8_t** partial, size_t* bytes);
/* partials: n of them, one after the other; bytes: (n), the sizes. */
polargo_result polargo_merge_partials(int64_t n, const uint8_t* partials, const size_t* bytes,
                                      int64_t nq, int64_t k, float* scores, int64_t* ids);

typedef struct polargo_builder_options {
  int32_t replace;
  int64_t memory_bytes; /* 0: the default */
} polargo_builder_options;

polargo_result polargo_builder_create(polargo_index index, const char* path,
                                      polargo_builder_options options, polargo_builder* out);
polargo_result polargo_builder_resume(const char* path, polargo_builder_options options,
                                      polargo_builder* out);
void polargo_builder_destroy(polargo_builder builder);
polargo_result polargo_builder_add(polargo_builder builder, int64_t n, const float* x,
                                   polargo_work work);
polargo_result polargo_builder_add_with_ids(polargo_builder builder, int64_t n, const float* x,
                                            const int64_t* ids, polargo_work work);
polargo_result polargo_builder_write_part(polargo_builder builder);
polargo_result polargo_builder_finish(polargo_builder builder, polargo_work work);
int32_t polargo_builder_dim(polargo_builder builder);
int64_t polargo_builder_ntotal(polargo_builder builder);
int64_t polargo_builder_written(polargo_builder builder);

/* ---- Advice: calls_advice.c ------------------------------------------------------------------ */

/* Numbers that are 0, but wanted_recall and allowed_bytes: the defaults. */
typedef struct polargo_advice_options {
  int32_t num_threads;
  uint64_t seed;
  int64_t k;
  double wanted_recall;
  double allowed_bytes;
  int64_t max_rows;
  int64_t max_queries;
  int64_t total_rows;
  const char* specs; /* num_specs texts, one after the other, each closed by 0 */
  int64_t num_specs;
  polargo_watch watch;
} polargo_advice_options;

polargo_result polargo_advice_create(int32_t dim, polar_metric metric, int64_t n, const float* x,
                                     int64_t nq, const float* queries,
                                     polargo_advice_options options, polargo_advice* out);
void polargo_advice_destroy(polargo_advice advice);
polargo_result polargo_advice_get_info(polargo_advice advice, polar_advice_info* info);
polargo_result polargo_advice_get_row(polargo_advice advice, int64_t row, polar_advice_row* filled);

/* ---- CUDA: calls_cuda.c; a stream is a cudaStream_t as a number ------------------------------ */

typedef struct polargo_cuda_options {
  int32_t num_threads;
  int32_t device;
  int32_t num_devices;
  const int32_t* devices;
  polar_cuda_layout layout;
} polargo_cuda_options;

polargo_result polargo_cuda_device_count(int32_t* count);
polargo_result polargo_cuda_get_device_info(int32_t device, polar_cuda_device_info* info);
polargo_result polargo_cuda_index_from_index(polargo_index index, polargo_cuda_options options,
                                             polargo_cuda_index* out);
polargo_result polargo_cuda_index_from_codes(polargo_codec codec, int64_t n, const uint8_t* codes,
                                             size_t codes_bytes, polargo_cuda_options options,
                                             polargo_cuda_index* out);
void polargo_cuda_index_destroy(polargo_cuda_index index);
void polargo_cuda_encoder_destroy(polargo_cuda_encoder encoder);
void polargo_cuda_codec_destroy(polargo_cuda_codec codec);
int64_t polargo_cuda_index_ntotal(polargo_cuda_index index);
polargo_result polargo_cuda_index_search(polargo_cuda_index index, int64_t nq, const float* queries,
                                         int64_t k, polargo_search search, uintptr_t stream,
                                         float* scores, int64_t* ids);
polargo_result polargo_cuda_index_memory_bytes(polargo_cuda_index index, size_t* bytes);
polargo_result polargo_cuda_encoder_create(polargo_codec codec, polargo_cuda_options options,
                                           polargo_cuda_encoder* out);
polargo_result polargo_cuda_encoder_encode(polargo_cuda_encoder encoder, int64_t n, const float* x,
                                           uint8_t* codes, size_t codes_bytes, uintptr_t stream);
polargo_result polargo_cuda_codec_create(polargo_codec codec, polargo_cuda_options options,
                                         polargo_cuda_codec* out);
polargo_result polargo_cuda_codec_score(polargo_cuda_codec codec, int64_t heads, int64_t nq,
                                        const float* queries, int64_t n, const uint8_t* codes,
                                        size_t codes_bytes, uintptr_t stream, float* scores);
polargo_result polargo_cuda_codec_combine(polargo_cuda_codec codec, int64_t heads, int64_t nw,
                                          const float* weights, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, uintptr_t stream, float* out);

#endif
