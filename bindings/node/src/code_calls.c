/* SPDX-License-Identifier: MIT */
/* Codes that the caller keeps: made, decoded, scored, searched; and queries for them. */
#include "operations.h"
#include "results.h"

static polar_status run_encode(call* call) {
  const object* codec = call->values[0].object;
  const value* x = &call->values[1];
  int64_t n;
  size_t bytes = 0;
  polar_status status = count_rows(call, "x", x, codec->dim, &n);
  if (status == POLAR_OK) status = polar_codec_encoded_bytes(codec->handle, n, &bytes);
  if (status == POLAR_OK) status = make_output(call, 0, (int64_t)bytes, 1);
  if (status != POLAR_OK) return status;
  return polar_codec_encode(codec->handle, n, x->data, work_of(call), call->outputs[0].data, bytes);
}

/* codec, codes, n, is unbiased, threads */
static polar_status run_decode(call* call) {
  const value* v = call->values;
  const object* codec = v[0].object;
  int64_t n;
  polar_status status = count_codes(call, "codes", codec, &v[1], v[2].count, &n);
  if (status != POLAR_OK) return status;
  if (n > INT64_MAX / codec->dim) return refuse(call, "n: %lld is too many rows", (long long)n);
  status = make_output(call, 0, n * codec->dim, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_codec_decode(
      codec->handle, n, v[1].data, (size_t)v[1].count,
      v[3].count ? POLAR_RECONSTRUCTION_UNBIASED : POLAR_RECONSTRUCTION_LEAST_ERROR, work_of(call),
      call->outputs[0].data);
}

static polar_status run_prepare(call* call) {
  const value* v = call->values;
  polar_query* made = NULL;
  polar_status status;
  if (v[1].count != v[0].object->dim) {
    return refuse(call, "query: %lld numbers are not allowed; %d, the dimensions",
                  (long long)v[1].count, (int)v[0].object->dim);
  }
  status = polar_query_prepare(v[0].object->handle, v[1].data, &made);
  call->made = made;
  return status;
}

/* codec, codes, n, row */
static polar_status run_prepare_from_code(call* call) {
  const value* v = call->values;
  polar_query* made = NULL;
  int64_t n;
  polar_status status = count_codes(call, "codes", v[0].object, &v[1], v[2].count, &n);
  if (status != POLAR_OK) return status;
  status = polar_query_prepare_from_code(v[0].object->handle, n, v[1].data, (size_t)v[1].count,
                                         v[3].count, &made);
  call->made = made;
  return status;
}

static napi_value give_query(napi_env env, call* call) {
  return give_object(env, call, OBJECT_QUERY, call->values[0].object->dim);
}

/* codec, query, codes, n, threads */
static polar_status run_score(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_codes(call, "codes", v[0].object, &v[2], v[3].count, &n);
  if (status == POLAR_OK) status = make_output(call, 0, n, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_codec_score(v[0].object->handle, v[1].object->handle, n, v[2].data,
                           (size_t)v[2].count, work_of(call), call->outputs[0].data);
}

/* codec, queries, codes, n, threads: (nq, n) */
static polar_status run_score_vectors(call* call) {
  const value* v = call->values;
  const object* codec = v[0].object;
  int64_t n, nq, i;
  polar_status status = count_rows(call, "query", &v[1], codec->dim, &nq);
  if (status == POLAR_OK) status = count_codes(call, "codes", codec, &v[2], v[3].count, &n);
  if (status != POLAR_OK) return status;
  if (nq > 0 && n > INT64_MAX / nq) return refuse(call, "n: %lld is too many", (long long)n);
  status = make_output(call, 0, nq * n, sizeof(float));
  for (i = 0; i < nq && status == POLAR_OK; ++i) {
    polar_query* query = NULL;
    status = polar_query_prepare(codec->handle, (const float*)v[1].data + i * codec->dim, &query);
    if (status == POLAR_OK) {
      status = polar_codec_score(codec->handle, query, n, v[2].data, (size_t)v[2].count,
                                 work_of(call), (float*)call->outputs[0].data + i * n);
    }
    polar_query_destroy(query);
  }
  return status;
}

/* codec, codes a, na, codes b, nb, threads */
static polar_status run_score_codes(call* call) {
  const value* v = call->values;
  int64_t na, nb;
  polar_status status = count_codes(call, "a", v[0].object, &v[1], v[2].count, &na);
  if (status == POLAR_OK) status = count_codes(call, "b", v[0].object, &v[3], v[4].count, &nb);
  if (status != POLAR_OK) return status;
  if (na > 0 && nb > INT64_MAX / na) return refuse(call, "nb: %lld is too many", (long long)nb);
  status = make_output(call, 0, na * nb, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_codec_score_codes(v[0].object->handle, na, v[1].data, (size_t)v[1].count, nb,
                                 v[3].data, (size_t)v[3].count, work_of(call),
                                 call->outputs[0].data);
}

/* codec, weights, codes, n, threads */
static polar_status run_combine(call* call) {
  const value* v = call->values;
  const object* codec = v[0].object;
  int64_t n, nw;
  polar_status status = count_codes(call, "codes", codec, &v[2], v[3].count, &n);
  if (status != POLAR_OK) return status;
  nw = n > 0 ? v[1].count / n : 0;
  if (nw * n != v[1].count) {
    return refuse(call, "weights: %lld numbers are not allowed; a multiple of %lld, the rows",
                  (long long)v[1].count, (long long)n);
  }
  status = make_output(call, 0, nw * codec->dim, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_codec_combine(codec->handle, n, v[2].data, (size_t)v[2].count, nw, v[1].data,
                             work_of(call), call->outputs[0].data);
}

/* codec, queries, codes, n, k, scores, ids, options */
static polar_status run_search(call* call) {
  value* v = call->values;
  int64_t n, nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status == POLAR_OK) status = count_codes(call, "codes", v[0].object, &v[2], v[3].count, &n);
  if (status == POLAR_OK) status = check_results(call, nq, v[4].count, &v[5], &v[6]);
  if (status != POLAR_OK) return status;
  status = polar_codec_search(v[0].object->handle, nq, v[1].data, n, v[2].data, (size_t)v[2].count,
                              v[4].count, search_of(call), v[5].data, v[6].data);
  return status == POLAR_OK ? finish_ids(call, &v[6]) : status;
}

static polar_status search_range(call* call, int64_t nq, int64_t capacity, int64_t* lims,
                                 float* scores, int64_t* ids) {
  const value* v = call->values;
  return polar_codec_range_search(v[0].object->handle, nq, v[1].data, call->integer, v[2].data,
                                  (size_t)v[2].count, (float)v[4].number, search_of(call), capacity,
                                  lims, scores, ids);
}

/* codec, queries, codes, n, radius, whether ids are bigints, options */
static polar_status run_code_range_search(call* call) {
  const value* v = call->values;
  int64_t n, nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status == POLAR_OK) status = count_codes(call, "codes", v[0].object, &v[2], v[3].count, &n);
  if (status != POLAR_OK) return status;
  call->integer = n;
  return run_range_search(call, nq, v[5].count == 0, search_range);
}

/* What results will have, as far as it can be told before the call; it is checked when they are
 * made. */

static int64_t product(int64_t a, int64_t b, int64_t bytes) {
  const double size = (double)a * (double)b * (double)bytes;
  return size > 0 && size < (double)(INT64_C(1) << 46) ? a * b * bytes : -1;
}

static int64_t expected_rows(const object* codec, const value* codes, int64_t wanted) {
  const int64_t code_bytes = (int64_t)codec->code_bytes;
  if (wanted >= 0) return wanted;
  return codec->group_rows > 1 || code_bytes == 0 ? -1 : codes->count / code_bytes;
}

static int64_t expect_codes(const call* call) {
  const value* v = call->values;
  const object* codec = v[0].object;
  if (codec->group_rows > 1) return -1;
  return product(v[1].count / codec->dim, (int64_t)codec->code_bytes, 1);
}

static int64_t expect_vectors(const call* call) {
  const value* v = call->values;
  return product(expected_rows(v[0].object, &v[1], v[2].count), v[0].object->dim, sizeof(float));
}

static int64_t expect_scores(const call* call) {
  const value* v = call->values;
  return product(expected_rows(v[0].object, &v[2], v[3].count), 1, sizeof(float));
}

static int64_t expect_scores_of_vectors(const call* call) {
  const value* v = call->values;
  const object* codec = v[0].object;
  return product(expected_rows(codec, &v[2], v[3].count), v[1].count / codec->dim, sizeof(float));
}

static int64_t expect_scores_of_codes(const call* call) {
  const value* v = call->values;
  return product(expected_rows(v[0].object, &v[1], v[2].count),
                 expected_rows(v[0].object, &v[3], v[4].count), sizeof(float));
}

const operation code_operations[] = {
    {"codecEncode", "CfT", run_encode, give_bytes, false, expect_codes},
    {"codecDecode", "CunnT", run_decode, give_floats, false, expect_vectors},
    {"queryPrepare", "Cf", run_prepare, give_query, false, NULL},
    {"queryPrepareFromCode", "Cunn", run_prepare_from_code, give_query, false, NULL},
    {"codecScore", "CQunT", run_score, give_floats, false, expect_scores},
    {"codecScoreVectors", "CfunT", run_score_vectors, give_floats, false, expect_scores_of_vectors},
    {"codecScoreCodes", "CununT", run_score_codes, give_floats, false, expect_scores_of_codes},
    {"codecCombine", "CfunT", run_combine, give_floats, false, NULL},
    {"codecSearch", "CfunnfjS", run_search, NULL, false, NULL},
    {"codecRangeSearch", "CfunrnS", run_code_range_search, give_ranges, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
