/* SPDX-License-Identifier: MIT */
/*
 * Search options and filters from JavaScript, each an argument:
 *   threads, exactness (NaN: the default), nprobe, efSearch, kFactor, then the filter:
 *   its kind, a polar_filter_kind or kMask, and what it has:
 *   BITSET: BigUint64Array, its bits · kMask: Uint8Array, a byte for each id · IDS: ids, in any
 * order · RANGE: undefined, first, end · CALLBACK: a function · PREPARED: a prepared filter.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

static const int32_t kMask = 101;

static int compare_ids(const void* a, const void* b) {
  int64_t first = *(const int64_t*)a, second = *(const int64_t*)b;
  return (first > second) - (first < second);
}

/* The library wants ids ascending, without repeats. */
static bool sort_ids(call* call, value* ids) {
  const int64_t* given = ids->data;
  int64_t* sorted;
  int64_t i, kept = 0;
  for (i = 1; i < ids->count && given[i - 1] < given[i]; ++i) {
  }
  if (i >= ids->count) return true;
  sorted = call_memory(call, (size_t)ids->count * sizeof *sorted);
  if (sorted == NULL) {
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "filter: out of memory");
    return false;
  }
  memcpy(sorted, given, (size_t)ids->count * sizeof *sorted);
  qsort(sorted, (size_t)ids->count, sizeof *sorted, compare_ids);
  for (i = 0; i < ids->count; ++i) {
    if (kept == 0 || sorted[i] != sorted[kept - 1]) sorted[kept++] = sorted[i];
  }
  ids->data = sorted;
  ids->count = kept;
  return true;
}

static bool read_mask(napi_env env, napi_value given, call* call) {
  value mask = {0};
  uint64_t* words;
  int64_t i;
  if (!read_array(env, given, 'u', call, &mask)) return false;
  words = call_memory(call, ((size_t)mask.count / 64 + 1) * sizeof *words);
  if (words == NULL) {
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "filter: out of memory");
    return false;
  }
  memset(words, 0, ((size_t)mask.count / 64 + 1) * sizeof *words);
  for (i = 0; i < mask.count; ++i) {
    if (((const uint8_t*)mask.data)[i] != 0) words[i / 64] |= UINT64_C(1) << (i % 64);
  }
  call->filter.kind = POLAR_FILTER_BITSET;
  call->filter.bitset.words = words;
  call->filter.bitset.num_bits = mask.count;
  return true;
}

static bool read_bits(napi_env env, napi_value given, napi_value length_given, call* call) {
  napi_typedarray_type type;
  size_t length;
  void* data;
  int64_t bits;
  if (!read_integer(env, length_given, false, &bits)) return false;
  if (napi_get_typedarray_info(env, given, &type, &length, &data, NULL, NULL) != napi_ok ||
      type != napi_biguint64_array) {
    throw_type(env, "filter.bits: a BigUint64Array is wanted");
    return false;
  }
  if (bits < 0 || (uint64_t)bits > (uint64_t)length * 64) {
    throw_status(call->environment, POLAR_ERROR_BAD_ARGUMENT,
                 "filter.length: is not allowed; 0 to 64 for each word of bits");
    return false;
  }
  call->filter.bitset.words = data;
  call->filter.bitset.num_bits = bits;
  return true;
}

/* polar_keep_fn; user: call. Only the environment's thread can ask JavaScript. */
static int32_t keep_row(void* user, int64_t id) {
  call* call = user;
  control* control = call->control;
  napi_env env = call->environment->env;
  napi_handle_scope scope;
  napi_value argument, receiver, answer, answer_bool;
  bool is_kept = false;
  if (!is_this_thread(control->thread) || atomic_load(&control->is_cancelled)) return 0;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return 0;
  if (id > -(INT64_C(1) << 53) && id < (INT64_C(1) << 53)) {
    napi_create_double(env, (double)id, &argument);
  } else {
    napi_create_bigint_int64(env, id, &argument);
  }
  napi_get_undefined(env, &receiver);
  ++call->environment->callback_depth;
  if (napi_call_function(env, receiver, call->keep, 1, &argument, &answer) != napi_ok) {
    control_keep_thrown(env, control);
  } else if (napi_coerce_to_bool(env, answer, &answer_bool) == napi_ok) {
    napi_get_value_bool(env, answer_bool, &is_kept);
  }
  --call->environment->callback_depth;
  napi_close_handle_scope(env, scope);
  return is_kept;
}

static bool read_prepared(napi_env env, napi_value given, call* call) {
  object* prepared = object_unwrap(env, given);
  if (prepared == NULL || prepared->kind != OBJECT_FILTER || prepared->is_closed) {
    throw_status(call->environment, POLAR_ERROR_BAD_ARGUMENT,
                 "PreparedFilter: is closed; make a new one");
    return false;
  }
  object_use(prepared);
  call->prepared = prepared;
  call->filter.prepared = prepared->handle;
  return true;
}

static bool read_filter(napi_env env, const napi_value* options, int32_t kind, call* call) {
  const napi_value given = options[FILTER_DATA];
  value ids = {0};
  polar_filter_init(&call->filter);
  call->filter.kind = kind;
  call->search.filter = &call->filter;
  if (kind == kMask) return read_mask(env, given, call);
  switch (kind) {
    case POLAR_FILTER_BITSET:
      return read_bits(env, given, options[7], call);
    case POLAR_FILTER_IDS:
      if (!read_ids(env, given, call, &ids) || !sort_ids(call, &ids)) return false;
      call->filter.ids.ids = ids.data;
      call->filter.ids.count = ids.count;
      return true;
    case POLAR_FILTER_RANGE:
      return read_integer(env, options[7], false, &call->filter.range.first) &&
             read_integer(env, options[8], false, &call->filter.range.end);
    case POLAR_FILTER_CALLBACK:
      if (call->control == NULL || call->control->is_async) {
        throw_type(env, "filter: a function is for synchronous calls alone");
        return false;
      }
      call->keep = given;
      call->filter.callback.keep = keep_row;
      call->filter.callback.user = call;
      /* Its thread alone can ask; other threads would leave rows out. */
      call->search.num_threads = 1;
      return true;
    default:
      return read_prepared(env, given, call);
  }
}

bool read_search_options(napi_env env, const napi_value* given, call* call) {
  napi_valuetype type;
  double threads, exactness, nprobe, nodes, kind;
  polar_search_options_init(&call->search);
  napi_typeof(env, given[0], &type);
  if (type == napi_undefined) return true;
  call->has_search = true;
  if (napi_get_value_double(env, given[0], &threads) != napi_ok ||
      napi_get_value_double(env, given[1], &exactness) != napi_ok ||
      napi_get_value_double(env, given[2], &nprobe) != napi_ok ||
      napi_get_value_double(env, given[3], &nodes) != napi_ok ||
      napi_get_value_double(env, given[4], &call->search.k_factor) != napi_ok ||
      napi_get_value_double(env, given[5], &kind) != napi_ok) {
    throw_type(env, "search options: numbers are wanted");
    return false;
  }
  call->search.num_threads = (int32_t)threads;
  if (!isnan(exactness)) call->search.exactness = (float)exactness;
  call->search.nprobe = (int64_t)nprobe;
  call->search.ef_search = (int64_t)nodes;
  return (int32_t)kind == POLAR_FILTER_NONE || read_filter(env, given, (int32_t)kind, call);
}
