/* SPDX-License-Identifier: MIT */
/* Numbers of rows, and results of range searches, whose size a search tells. */
#include <string.h>

#include "operations.h"
#include "results.h"

polar_status count_rows(call* call, const char* name, const value* array, int32_t dim, int64_t* n) {
  *n = array->count / dim;
  if (*n * dim == array->count) return POLAR_OK;
  return refuse(call, "%s: %lld numbers are not allowed; a multiple of %d, the dimensions", name,
                (long long)array->count, (int)dim);
}

polar_status count_codes(call* call, const char* name, const object* codec, const value* codes,
                         int64_t wanted, int64_t* n) {
  *n = wanted;
  if (wanted >= 0) return POLAR_OK;
  if (codec->group_rows > 1) {
    return refuse(call, "n: is needed where %d rows share a code; the number of rows",
                  (int)codec->group_rows);
  }
  if (codec->code_bytes == 0) return refuse(call, "%s: the codec has none yet; train first", name);
  *n = codes->count / (int64_t)codec->code_bytes;
  if (*n * (int64_t)codec->code_bytes == codes->count) return POLAR_OK;
  return refuse(call, "%s: %lld bytes are not allowed; a multiple of %lld, a code's bytes", name,
                (long long)codes->count, (long long)codec->code_bytes);
}

polar_status check_results(call* call, int64_t nq, int64_t k, const value* scores,
                           const value* ids) {
  if (k < 1) return refuse(call, "k: %lld is not allowed; 1 or more", (long long)k);
  if (nq <= INT64_MAX / k && scores->count == nq * k && ids->count == nq * k) return POLAR_OK;
  return refuse(call, "queries: their number changed while the call was made");
}

polar_status check_count(call* call, const char* name, const value* array, int64_t n) {
  if (array->count == n) return POLAR_OK;
  return refuse(call, "%s: %lld elements are not allowed; %lld, one for each row", name,
                (long long)array->count, (long long)n);
}

polar_status run_range_search(call* call, int64_t nq, bool to_double, range_search_fn search) {
  int64_t capacity = 256 + 16 * nq;
  polar_status status = make_output(call, 0, nq + 1, sizeof(int64_t));
  value ids = {0};
  for (;;) {
    int64_t* lims = call->outputs[0].data;
    if (status == POLAR_OK) status = make_output(call, 1, capacity, sizeof(float));
    if (status == POLAR_OK) status = make_output(call, 2, capacity, sizeof(int64_t));
    if (status == POLAR_OK) {
      status = search(call, nq, capacity, lims, call->outputs[1].data, call->outputs[2].data);
    }
    if (status != POLAR_OK) return status;
    if (lims[nq] <= capacity) break;
    /* Other calls may add rows meanwhile. */
    capacity = lims[nq] + lims[nq] / 16;
  }
  ids.count = call->outputs[1].count = call->outputs[2].count =
      ((int64_t*)call->outputs[0].data)[nq];
  ids.data = call->outputs[2].data;
  ids.to_double = to_double;
  call->integer = to_double;
  return finish_ids(call, &ids);
}

napi_value give_ranges(napi_env env, call* call) {
  napi_value result;
  double lim;
  int64_t i, count = call->outputs[0].count;
  char* lims = call->outputs[0].data;
  for (i = 0; i < count; ++i) {
    int64_t integer;
    memcpy(&integer, lims + i * (int64_t)sizeof integer, sizeof integer);
    lim = (double)integer;
    memcpy(lims + i * (int64_t)sizeof lim, &lim, sizeof lim);
  }
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  set_value(env, result, "lims", give_array(env, call, 0, napi_float64_array, sizeof(double)));
  set_value(env, result, "scores", give_array(env, call, 1, napi_float32_array, sizeof(float)));
  set_value(env, result, "ids",
            give_array(env, call, 2, call->integer ? napi_float64_array : napi_bigint64_array,
                       sizeof(int64_t)));
  return result;
}
