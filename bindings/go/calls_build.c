/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "call_options.h"

/* The addresses of n texts that lie one after the other, for free(); NULL without memory. */
static const char** addresses_of(int64_t n, const char* texts) {
  const char** addresses = calloc(n > 0 ? (size_t)n : 1, sizeof *addresses);
  for (int64_t i = 0; addresses != NULL && i < n; ++i) {
    addresses[i] = texts;
    texts += strlen(texts) + 1;
  }
  return addresses;
}

static polargo_result out_of_memory(void) {
  const polargo_result result = {POLAR_ERROR_OUT_OF_MEMORY, NULL};
  return result;
}

polargo_result polargo_merge_files(int64_t n, const char* paths, const char* out,
                                   polargo_work work) {
  polar_work_options options;
  const char** addresses = addresses_of(n, paths);
  if (addresses == NULL) return out_of_memory();
  polargo_set_work(&work, &options);
  const polargo_result result = polargo_result_of(polar_merge_files(n, addresses, out, &options));
  free(addresses);
  return result;
}

polargo_result polargo_index_open_shards(int64_t n, const char* paths, polargo_index* out) {
  polar_index* made = NULL;
  const char** addresses = addresses_of(n, paths);
  if (addresses == NULL) return out_of_memory();
  const polargo_result result = polargo_result_of(polar_index_open_shards(n, addresses, &made));
  free(addresses);
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_load_empty(const char* path, polargo_index* out) {
  polar_index* made = NULL;
  const polargo_result result = polargo_result_of(polar_index_load_empty(path, &made));
  *out = (polargo_index)made;
  return result;
}

polargo_result polargo_index_search_partial(polargo_index index, int64_t first_row, int64_t nq,
                                            const float* queries, int64_t k, polargo_search search,
                                            uint8_t** partial, size_t* bytes) {
  const polar_index* searched = (const polar_index*)index;
  polar_search_options options;
  polar_filter filter;
  size_t capacity = 0;
  polar_status status = POLAR_OK;
  polargo_set_search(&search, &options, &filter);
  *partial = NULL;
  do {
    size_t most = 0;
    const polar_status asked = polar_index_partial_bytes(searched, nq, k, &most);
    if (asked != POLAR_OK) status = asked;
    /* The error's text is that of the search before, which success does not clear. */
    if (asked != POLAR_OK || most <= capacity) break;
    free(*partial);
    *partial = malloc(most);
    if (*partial == NULL) return out_of_memory();
    capacity = most;
    status = polar_index_search_partial(searched, first_row, nq, queries, k, &options, capacity,
                                        *partial, bytes);
    /* Perhaps rows were added meanwhile, for which there is no memory. */
  } while (status == POLAR_ERROR_BAD_ARGUMENT);
  const polargo_result result = polargo_result_of(status);
  if (status != POLAR_OK) {
    free(*partial);
    *partial = NULL;
  }
  return result;
}

polargo_result polargo_merge_partials(int64_t n, const uint8_t* partials, const size_t* bytes,
                                      int64_t nq, int64_t k, float* scores, int64_t* ids) {
  const uint8_t** addresses = calloc(n > 0 ? (size_t)n : 1, sizeof *addresses);
  if (addresses == NULL) return out_of_memory();
  for (int64_t i = 0; i < n; ++i) {
    addresses[i] = partials;
    partials += bytes[i];
  }
  const polargo_result result =
      polargo_result_of(polar_merge_partials(n, addresses, bytes, nq, k, scores, ids));
  free(addresses);
  return result;
}

static void set_builder_options(polargo_builder_options given, polar_builder_options* options) {
  polar_builder_options_init(options);
  options->replace = given.replace;
  if (given.memory_bytes != 0) options->memory_bytes = given.memory_bytes;
}

polargo_result polargo_builder_create(polargo_index index, const char* path,
                                      polargo_builder_options given, polargo_builder* out) {
  polar_builder* made = NULL;
  polar_builder_options options;
  set_builder_options(given, &options);
  const polargo_result result =
      polargo_result_of(polar_builder_create((const polar_index*)index, path, &options, &made));
  *out = (polargo_builder)made;
  return result;
}

polargo_result polargo_builder_resume(const char* path, polargo_builder_options given,
                                      polargo_builder* out) {
  polar_builder* made = NULL;
  polar_builder_options options;
  set_builder_options(given, &options);
  const polargo_result result = polargo_result_of(polar_builder_resume(path, &options, &made));
  *out = (polargo_builder)made;
  return result;
}

void polargo_builder_destroy(polargo_builder builder) {
  polar_builder_destroy((polar_builder*)builder);
}

polargo_result polargo_builder_add(polargo_builder builder, int64_t n, const float* x,
                                   polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_builder_add((polar_builder*)builder, n, x, &options));
}

polargo_result polargo_builder_add_with_ids(polargo_builder builder, int64_t n, const float* x,
                                            const int64_t* ids, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_builder_add_with_ids((polar_builder*)builder, n, x, ids, &options));
}

polargo_result polargo_builder_write_part(polargo_builder builder) {
  return polargo_result_of(polar_builder_write_part((polar_builder*)builder));
}

polargo_result polargo_builder_finish(polargo_builder builder, polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_builder_finish((polar_builder*)builder, &options));
}

int32_t polargo_builder_dim(polargo_builder builder) {
  return polar_builder_dim((const polar_builder*)builder);
}

int64_t polargo_builder_ntotal(polargo_builder builder) {
  return polar_builder_ntotal((const polar_builder*)builder);
}

int64_t polargo_builder_written(polargo_builder builder) {
  return polar_builder_written((const polar_builder*)builder);
}
