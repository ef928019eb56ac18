/* SPDX-License-Identifier: MIT */
#include "call_options.h"

#include <stdlib.h>

/* callbacks.go has these. */
extern int32_t polargoProgress(uintptr_t callbacks, double done);
extern int32_t polargoKeep(uintptr_t callbacks, int64_t id);

polargo_result polargo_result_of(polar_status status) {
  polargo_result result;
  result.status = status;
  result.text = NULL;
  if (status != POLAR_OK) {
    const size_t cap = polar_last_error(NULL, 0) + 1;
    result.text = malloc(cap);
    if (result.text != NULL) polar_last_error(result.text, cap);
  }
  return result;
}

int32_t polargo_on_progress(void* user, double done) {
  const polargo_watch* watch = user;
  if (watch->stop != NULL && __atomic_load_n(watch->stop, __ATOMIC_ACQUIRE) != 0) return 1;
  return watch->callbacks != 0 ? polargoProgress(watch->callbacks, done) : 0;
}

int32_t polargo_is_watched(const polargo_watch* watch) {
  return watch->stop != NULL || watch->callbacks != 0;
}

void polargo_set_work(const polargo_work* work, polar_work_options* options) {
  polar_work_options_init(options);
  options->num_threads = work->num_threads;
  if (!polargo_is_watched(&work->watch)) return;
  options->progress = polargo_on_progress;
  options->progress_user = (void*)&work->watch;
}

/* The handle is the user pointer itself, a number that is never followed. */
static int32_t on_keep(void* callbacks, int64_t id) {
  return polargoKeep((uintptr_t)callbacks, id);
}

void polargo_set_filter(const polargo_filter* given, polar_filter* filter) {
  polar_filter_init(filter);
  filter->kind = given->kind;
  switch (given->kind) {
    case POLAR_FILTER_BITSET:
      filter->bitset.words = given->words;
      filter->bitset.num_bits = 64 * given->count;
      break;
    case POLAR_FILTER_IDS:
      filter->ids.ids = given->ids;
      filter->ids.count = given->count;
      break;
    case POLAR_FILTER_RANGE:
      filter->range = given->range;
      break;
    case POLAR_FILTER_CALLBACK:
      filter->callback.keep = on_keep;
      filter->callback.user = (void*)given->callbacks;
      break;
    case POLAR_FILTER_PREPARED:
      filter->prepared = (const polar_prepared_filter*)given->prepared;
      break;
    default:
      break;
  }
}

void polargo_set_search(const polargo_search* search, polar_search_options* options,
                        polar_filter* filter) {
  polar_search_options_init(options);
  options->num_threads = search->num_threads;
  if (search->exactness != 0) options->exactness = search->exactness;
  options->nprobe = search->nprobe;
  options->ef_search = search->ef_search;
  options->k_factor = search->k_factor;
  if (search->filter.kind != POLAR_FILTER_NONE) {
    polargo_set_filter(&search->filter, filter);
    options->filter = filter;
  }
  if (!polargo_is_watched(&search->watch)) return;
  options->progress = polargo_on_progress;
  options->progress_user = (void*)&search->watch;
}
