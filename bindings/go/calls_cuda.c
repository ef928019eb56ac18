/* SPDX-License-Identifier: MIT */
#include "call_options.h"

static void set_options(const polargo_cuda_options* given, polar_cuda_options* options) {
  polar_cuda_options_init(options);
  options->num_threads = given->num_threads;
  options->device = given->device;
  options->num_devices = given->num_devices;
  options->devices = given->devices;
  options->layout = given->layout;
}

polargo_result polargo_cuda_device_count(int32_t* count) {
  return polargo_result_of(polar_cuda_device_count(count));
}

polargo_result polargo_cuda_get_device_info(int32_t device, polar_cuda_device_info* info) {
  return polargo_result_of(polar_cuda_get_device_info(device, info));
}

polargo_result polargo_cuda_index_from_index(polargo_index index, polargo_cuda_options given,
                                             polargo_cuda_index* out) {
  polar_cuda_index* made = NULL;
  polar_cuda_options options;
  set_options(&given, &options);
  const polargo_result result =
      polargo_result_of(polar_cuda_index_from_index((const polar_index*)index, &options, &made));
  *out = (polargo_cuda_index)made;
  return result;
}

polargo_result polargo_cuda_index_from_codes(polargo_codec codec, int64_t n, const uint8_t* codes,
                                             size_t codes_bytes, polargo_cuda_options given,
                                             polargo_cuda_index* out) {
  polar_cuda_index* made = NULL;
  polar_cuda_options options;
  set_options(&given, &options);
  const polargo_result result = polargo_result_of(polar_cuda_index_from_codes(
      (const polar_codec*)codec, n, codes, codes_bytes, &options, &made));
  *out = (polargo_cuda_index)made;
  return result;
}

polargo_result polargo_cuda_index_search(polargo_cuda_index index, int64_t nq, const float* queries,
                                         int64_t k, polargo_search search, uintptr_t stream,
                                         float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(polar_cuda_index_search((const polar_cuda_index*)index, nq, queries, k,
                                                   &options, (void*)stream, scores, ids));
}

polargo_result polargo_cuda_index_memory_bytes(polargo_cuda_index index, size_t* bytes) {
  return polargo_result_of(polar_cuda_index_memory_bytes((const polar_cuda_index*)index, bytes));
}

polargo_result polargo_cuda_encoder_create(polargo_codec codec, polargo_cuda_options given,
                                           polargo_cuda_encoder* out) {
  polar_cuda_encoder* made = NULL;
  polar_cuda_options options;
  set_options(&given, &options);
  const polargo_result result =
      polargo_result_of(polar_cuda_encoder_create((const polar_codec*)codec, &options, &made));
  *out = (polargo_cuda_encoder)made;
  return result;
}

polargo_result polargo_cuda_encoder_encode(polargo_cuda_encoder encoder, int64_t n, const float* x,
                                           uint8_t* codes, size_t codes_bytes, uintptr_t stream) {
  return polargo_result_of(polar_cuda_encoder_encode((const polar_cuda_encoder*)encoder, n, x,
                                                     codes, codes_bytes, (void*)stream));
}

polargo_result polargo_cuda_codec_create(polargo_codec codec, polargo_cuda_options given,
                                         polargo_cuda_codec* out) {
  polar_cuda_codec* made = NULL;
  polar_cuda_options options;
  set_options(&given, &options);
  const polargo_result result =
      polargo_result_of(polar_cuda_codec_create((const polar_codec*)codec, &options, &made));
  *out = (polargo_cuda_codec)made;
  return result;
}

polargo_result polargo_cuda_codec_score(polargo_cuda_codec codec, int64_t heads, int64_t nq,
                                        const float* queries, int64_t n, const uint8_t* codes,
                                        size_t codes_bytes, uintptr_t stream, float* scores) {
  return polargo_result_of(polar_cuda_codec_score((const polar_cuda_codec*)codec, heads, nq,
                                                  queries, n, codes, codes_bytes, (void*)stream,
                                                  scores));
}

polargo_result polargo_cuda_codec_combine(polargo_cuda_codec codec, int64_t heads, int64_t nw,
                                          const float* weights, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, uintptr_t stream, float* out) {
  return polargo_result_of(polar_cuda_codec_combine((const polar_cuda_codec*)codec, heads, nw,
                                                    weights, n, codes, codes_bytes, (void*)stream,
                                                    out));
}

void polargo_cuda_index_destroy(polargo_cuda_index index) {
  polar_cuda_index_destroy((polar_cuda_index*)index);
}

void polargo_cuda_encoder_destroy(polargo_cuda_encoder encoder) {
  polar_cuda_encoder_destroy((polar_cuda_encoder*)encoder);
}

void polargo_cuda_codec_destroy(polargo_cuda_codec codec) {
  polar_cuda_codec_destroy((polar_cuda_codec*)codec);
}

int64_t polargo_cuda_index_ntotal(polargo_cuda_index index) {
  return polar_cuda_index_ntotal((const polar_cuda_index*)index);
}
