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

polargo_result polargo_cuda_index_from_index(const polar_index* index, polargo_cuda_options given,
                                             polar_cuda_index** out) {
  polar_cuda_options options;
  set_options(&given, &options);
  return polargo_result_of(polar_cuda_index_from_index(index, &options, out));
}

polargo_result polargo_cuda_index_from_codes(const polar_codec* codec, int64_t n,
                                             const uint8_t* codes, size_t codes_bytes,
                                             polargo_cuda_options given, polar_cuda_index** out) {
  polar_cuda_options options;
  set_options(&given, &options);
  return polargo_result_of(
      polar_cuda_index_from_codes(codec, n, codes, codes_bytes, &options, out));
}

polargo_result polargo_cuda_index_search(const polar_cuda_index* index, int64_t nq,
                                         const float* queries, int64_t k, polargo_search search,
                                         uintptr_t stream, float* scores, int64_t* ids) {
  polar_search_options options;
  polar_filter filter;
  polargo_set_search(&search, &options, &filter);
  return polargo_result_of(
      polar_cuda_index_search(index, nq, queries, k, &options, (void*)stream, scores, ids));
}

polargo_result polargo_cuda_index_memory_bytes(const polar_cuda_index* index, size_t* bytes) {
  return polargo_result_of(polar_cuda_index_memory_bytes(index, bytes));
}

polargo_result polargo_cuda_encoder_create(const polar_codec* codec, polargo_cuda_options given,
                                           polar_cuda_encoder** out) {
  polar_cuda_options options;
  set_options(&given, &options);
  return polargo_result_of(polar_cuda_encoder_create(codec, &options, out));
}

polargo_result polargo_cuda_encoder_encode(const polar_cuda_encoder* encoder, int64_t n,
                                           const float* x, uint8_t* codes, size_t codes_bytes,
                                           uintptr_t stream) {
  return polargo_result_of(
      polar_cuda_encoder_encode(encoder, n, x, codes, codes_bytes, (void*)stream));
}

polargo_result polargo_cuda_codec_create(const polar_codec* codec, polargo_cuda_options given,
                                         polar_cuda_codec** out) {
  polar_cuda_options options;
  set_options(&given, &options);
  return polargo_result_of(polar_cuda_codec_create(codec, &options, out));
}

polargo_result polargo_cuda_codec_score(const polar_cuda_codec* codec, int64_t heads, int64_t nq,
                                        const float* queries, int64_t n, const uint8_t* codes,
                                        size_t codes_bytes, uintptr_t stream, float* scores) {
  return polargo_result_of(polar_cuda_codec_score(codec, heads, nq, queries, n, codes, codes_bytes,
                                                  (void*)stream, scores));
}

polargo_result polargo_cuda_codec_combine(const polar_cuda_codec* codec, int64_t heads, int64_t nw,
                                          const float* weights, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, uintptr_t stream, float* out) {
  return polargo_result_of(polar_cuda_codec_combine(codec, heads, nw, weights, n, codes,
                                                    codes_bytes, (void*)stream, out));
}
