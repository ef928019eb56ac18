/* SPDX-License-Identifier: MIT */
#include "call_options.h"

#include <stdlib.h>
#include <string.h>

/* (num_specs) pointers to texts that follow one another, for free(); NULL for no memory. */
static const char** specs_of(const char* texts, int64_t num_specs) {
  const char** specs = malloc((size_t)num_specs * sizeof *specs);
  int64_t i;
  if (specs == NULL) return NULL;
  for (i = 0; i < num_specs; ++i) {
    specs[i] = texts;
    texts += strlen(texts) + 1;
  }
  return specs;
}

polargo_result polargo_advice_create(int32_t dim, polar_metric metric, int64_t n, const float* x,
                                     int64_t nq, const float* queries, polargo_advice_options given,
                                     polargo_advice* out) {
  polar_advice* made = NULL;
  const char** specs = NULL;
  polar_advice_options options;
  polargo_result result = {POLAR_ERROR_OUT_OF_MEMORY, NULL};
  *out = 0;
  polar_advice_options_init(&options);
  options.num_threads = given.num_threads;
  if (given.seed != 0) options.seed = given.seed;
  if (given.k != 0) options.k = given.k;
  options.wanted_recall = given.wanted_recall;
  options.allowed_bytes = given.allowed_bytes;
  if (given.max_rows != 0) options.max_rows = given.max_rows;
  if (given.max_queries != 0) options.max_queries = given.max_queries;
  options.total_rows = given.total_rows;
  if (given.num_specs > 0) {
    specs = specs_of(given.specs, given.num_specs);
    if (specs == NULL) return result;
    options.specs = specs;
    options.num_specs = given.num_specs;
  }
  if (polargo_is_watched(&given.watch)) {
    options.progress = polargo_on_progress;
    options.progress_user = (void*)&given.watch;
  }
  result = polargo_result_of(polar_advice_create(dim, metric, n, x, nq, queries, &options, &made));
  *out = (polargo_advice)made;
  free((void*)specs);
  return result;
}

polargo_result polargo_advice_get_info(polargo_advice advice, polar_advice_info* info) {
  return polargo_result_of(polar_advice_get_info((const polar_advice*)advice, info));
}

polargo_result polargo_advice_get_row(polargo_advice advice, int64_t row,
                                      polar_advice_row* filled) {
  return polargo_result_of(polar_advice_get_row((const polar_advice*)advice, row, filled));
}

void polargo_advice_destroy(polargo_advice advice) { polar_advice_destroy((polar_advice*)advice); }
