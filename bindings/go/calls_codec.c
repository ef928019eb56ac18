/* SPDX-License-Identifier: MIT */
#include "call_options.h"

polargo_result polargo_prepared_filter_create(polargo_filter given, polargo_prepared_filter* out) {
  polar_prepared_filter* made = NULL;
  polar_filter filter;
  polargo_set_filter(&given, &filter);
  const polargo_result result = polargo_result_of(polar_prepared_filter_create(&filter, &made));
  *out = (polargo_prepared_filter)made;
  return result;
}

polargo_result polargo_codec_create(const char* spec, int32_t dim, polar_metric metric,
                                    uint64_t seed, int32_t learn_centre, double norm_unit,
                                    const float* centre, polargo_codec* out) {
  polar_codec* made = NULL;
  polar_codec_options options;
  polar_codec_options_init(&options);
  if (seed != 0) options.seed = seed;
  options.learn_centre = learn_centre;
  options.norm_unit = norm_unit;
  options.centre = centre;
  const polargo_result result =
      polargo_result_of(polar_codec_create(spec, dim, metric, &options, &made));
  *out = (polargo_codec)made;
  return result;
}

polargo_result polargo_codec_get_info(polargo_codec codec, polar_codec_info* info) {
  return polargo_result_of(polar_codec_get_info((const polar_codec*)codec, info));
}

polargo_result polargo_codec_get_centre(polargo_codec codec, float* centre) {
  return polargo_result_of(polar_codec_get_centre((const polar_codec*)codec, centre));
}

polargo_result polargo_codec_memory_bytes(polargo_codec codec, size_t* bytes) {
  return polargo_result_of(polar_codec_memory_bytes((const polar_codec*)codec, bytes));
}

polargo_result polargo_codec_train(polargo_codec codec, int64_t n, const float* x,
                                   polargo_work work) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_codec_train((polar_codec*)codec, n, x, &options));
}

polargo_result polargo_codec_get_plan(polargo_codec codec, polar_codec_plan* plan,
                                      polar_segment* segments, int64_t cap) {
  return polargo_result_of(polar_codec_get_plan((const polar_codec*)codec, plan, segments, cap));
}

polargo_result polargo_codec_drift(polargo_codec codec, int64_t n, const float* x,
                                   polargo_work work, double* drift) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_codec_drift((const polar_codec*)codec, n, x, &options, drift));
}

polargo_result polargo_codec_encoded_bytes(polargo_codec codec, int64_t n, size_t* bytes) {
  return polargo_result_of(polar_codec_encoded_bytes((const polar_codec*)codec, n, bytes));
}

polargo_result polargo_codec_encode(polargo_codec codec, int64_t n, const float* x,
                                    polargo_work work, uint8_t* codes, size_t codes_bytes) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_codec_encode((const polar_codec*)codec, n, x, &options, codes, codes_bytes));
}

polargo_result polargo_codec_decode(polargo_codec codec, int64_t n, const uint8_t* codes,
                                    size_t codes_bytes, polar_reconstruction kind,
                                    polargo_work work, float* x) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(
      polar_codec_decode((const polar_codec*)codec, n, codes, codes_bytes, kind, &options, x));
}

polargo_result polargo_query_prepare(polargo_codec codec, const float* q, polargo_query* out) {
  polar_query* made = NULL;
  const polargo_result result =
      polargo_result_of(polar_query_prepare((const polar_codec*)codec, q, &made));
  *out = (polargo_query)made;
  return result;
}

polargo_result polargo_query_prepare_from_code(polargo_codec codec, int64_t n, const uint8_t* codes,
                                               size_t codes_bytes, int64_t row,
                                               polargo_query* out) {
  polar_query* made = NULL;
  const polargo_result result = polargo_result_of(
      polar_query_prepare_from_code((const polar_codec*)codec, n, codes, codes_bytes, row, &made));
  *out = (polargo_query)made;
  return result;
}

polargo_result polargo_codec_score(polargo_codec codec, polargo_query query, int64_t n,
                                   const uint8_t* codes, size_t codes_bytes, polargo_work work,
                                   float* scores) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_codec_score((const polar_codec*)codec, (const polar_query*)query,
                                             n, codes, codes_bytes, &options, scores));
}

polargo_result polargo_codec_search(polargo_codec codec, int64_t nq, const float* queries,
                                    int64_t n, const uint8_t* codes, size_t codes_bytes, int64_t k,
                                    polargo_search search, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_codec_search((const polar_codec*)codec, nq, queries, n, codes,
                                              codes_bytes, k, &options, scores, ids));
}

polargo_result polargo_codec_range_search(polargo_codec codec, int64_t nq, const float* queries,
                                          int64_t n, const uint8_t* codes, size_t codes_bytes,
                                          float radius, polargo_search search, int64_t capacity,
                                          int64_t* lims, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_codec_range_search((const polar_codec*)codec, nq, queries, n,
                                                    codes, codes_bytes, radius, &options, capacity,
                                                    lims, scores, ids));
}

polargo_result polargo_codec_score_codes(polargo_codec codec, int64_t na, const uint8_t* codes_a,
                                         size_t codes_a_bytes, int64_t nb, const uint8_t* codes_b,
                                         size_t codes_b_bytes, polargo_work work, float* scores) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_codec_score_codes((const polar_codec*)codec, na, codes_a,
                                                   codes_a_bytes, nb, codes_b, codes_b_bytes,
                                                   &options, scores));
}

polargo_result polargo_codec_combine(polargo_codec codec, int64_t n, const uint8_t* codes,
                                     size_t codes_bytes, int64_t nw, const float* weights,
                                     polargo_work work, float* out) {
  polar_work_options options;
  polargo_set_work(&work, &options);
  return polargo_result_of(polar_codec_combine((const polar_codec*)codec, n, codes, codes_bytes, nw,
                                               weights, &options, out));
}

polargo_result polargo_codec_save_state(polargo_codec codec, uint8_t* buf, size_t cap,
                                        size_t* needed) {
  return polargo_result_of(polar_codec_save_state((const polar_codec*)codec, buf, cap, needed));
}

polargo_result polargo_codec_load_state(const uint8_t* data, size_t bytes, polargo_codec* out) {
  polar_codec* made = NULL;
  const polargo_result result = polargo_result_of(polar_codec_load_state(data, bytes, &made));
  *out = (polargo_codec)made;
  return result;
}

polargo_result polargo_codec_check_same_state(polargo_codec a, polargo_codec b) {
  return polargo_result_of(
      polar_codec_check_same_state((const polar_codec*)a, (const polar_codec*)b));
}

void polargo_prepared_filter_destroy(polargo_prepared_filter filter) {
  polar_prepared_filter_destroy((polar_prepared_filter*)filter);
}

void polargo_codec_destroy(polargo_codec codec) { polar_codec_destroy((polar_codec*)codec); }

void polargo_query_destroy(polargo_query query) { polar_query_destroy((polar_query*)query); }

size_t polargo_codec_spec(polargo_codec codec, char* buf, size_t cap) {
  return polar_codec_spec((const polar_codec*)codec, buf, cap);
}
