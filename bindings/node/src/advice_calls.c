/* SPDX-License-Identifier: MIT */
/* Advice which code to take, read whole and given as a plain object. Versions of the library, too.
 */
#include "operations.h"
#include "results.h"

/* dim, metric, rows, queries, threads, k, wantedRecall, allowedBytes, maxRows, maxQueries,
 * totalRows, specs, seed; k and the most of rows and queries are 0 for the defaults */
static polar_status run_advise(call* call) {
  const value* v = call->values;
  const int32_t dim = clamp_int32(v[0].count);
  polar_advice_options options;
  polar_advice* made = NULL;
  polar_status status;
  int64_t n, nq;
  if (dim < 1) return refuse(call, "dim: %d is not allowed; 1 to 65535", (int)dim);
  status = count_rows(call, "x", &v[2], dim, &n);
  if (status == POLAR_OK) status = count_rows(call, "queries", &v[3], dim, &nq);
  if (status != POLAR_OK) return status;
  polar_advice_options_init(&options);
  options.num_threads = call->work.num_threads;
  options.progress = call->work.progress;
  options.progress_user = call->work.progress_user;
  if (v[5].count > 0) options.k = v[5].count;
  options.wanted_recall = v[6].number;
  options.allowed_bytes = v[7].number;
  if (v[8].count > 0) options.max_rows = v[8].count;
  if (v[9].count > 0) options.max_queries = v[9].count;
  options.total_rows = v[10].count;
  if (v[11].data != NULL) {
    options.specs = v[11].data;
    options.num_specs = v[11].count;
  }
  options.seed = (uint64_t)v[12].count;
  status = polar_advice_create(dim, clamp_int32(v[1].count), n, v[2].data, nq, v[3].data, &options,
                               &made);
  call->made = made;
  return status;
}

static napi_value give_row(napi_env env, const polar_advice* advice, int64_t place) {
  polar_advice_row row = {sizeof row};
  napi_value result;
  if (polar_advice_get_row(advice, place, &row) != POLAR_OK ||
      napi_create_object(env, &result) != napi_ok) {
    return NULL;
  }
  set_text(env, result, "spec", row.spec);
  set_text(env, result, "problem", row.problem);
  set_bool(env, result, "needsTraining", row.needs_training != 0);
  set_number(env, result, "bytesPerVector", row.bytes_per_vector);
  set_number(env, result, "recall", row.recall);
  set_number(env, result, "recallMargin", row.recall_margin);
  set_number(env, result, "quarterRecall", row.quarter_recall);
  set_number(env, result, "expectedRecall", row.expected_recall);
  set_number(env, result, "error", row.error);
  set_number(env, result, "gain", row.gain);
  set_number(env, result, "gainMargin", row.gain_margin);
  set_number(env, result, "codecBytes", (double)row.codec_bytes);
  set_bool(env, result, "pays", row.pays != 0);
  set_bool(env, result, "isRecommended", row.is_recommended != 0);
  return result;
}

static napi_value give_advice(napi_env env, call* call) {
  polar_advice* advice = call->made;
  polar_advice_info info = {sizeof info};
  napi_value result = NULL, rows, row, recommended = NULL;
  int64_t i;
  call->made = NULL;
  napi_get_null(env, &recommended);
  if (polar_advice_get_info(advice, &info) == POLAR_OK &&
      napi_create_object(env, &result) == napi_ok && napi_create_array(env, &rows) == napi_ok) {
    for (i = 0; i < info.rows; ++i) {
      row = give_row(env, advice, i);
      if (row == NULL) continue;
      napi_set_element(env, rows, (uint32_t)i, row);
      if (i == info.recommended) recommended = row;
    }
    set_value(env, result, "rows", rows);
    set_value(env, result, "recommended", recommended);
    set_text(env, result, "reason", info.reason);
    set_bool(env, result, "heldOutQueries", info.held_out_queries != 0);
    set_number(env, result, "queries", (double)info.queries);
    set_number(env, result, "baseRows", (double)info.base_rows);
    set_number(env, result, "trainRows", (double)info.train_rows);
  }
  polar_advice_destroy(advice);
  return result;
}

static polar_status run_version(call* call) {
  call->integer = polar_version();
  return POLAR_OK;
}

static polar_status run_nothing(call* call) {
  (void)call;
  return POLAR_OK;
}

static napi_value give_version_text(napi_env env, call* call) {
  napi_value result = NULL;
  (void)call;
  napi_create_string_utf8(env, polar_version_string(), NAPI_AUTO_LENGTH, &result);
  return result;
}

const operation advice_operations[] = {
    {"advise", "nnfFTnrrnnntx", run_advise, give_advice, false, NULL},
    {"version", "", run_version, give_integer, false, NULL},
    {"versionText", "", run_nothing, give_version_text, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
