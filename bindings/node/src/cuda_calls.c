/* SPDX-License-Identifier: MIT */
/* Searches, codes and scores on GPUs, with everything of the caller's in host memory, on the
 * default stream. */
#include "operations.h"
#include "results.h"

static polar_status run_device_count(call* call) {
  int32_t count = 0;
  polar_status status = polar_cuda_device_count(&count);
  call->integer = count;
  return status;
}

static polar_status run_device_info(call* call) {
  polar_cuda_device_info* info;
  polar_status status = make_output(call, 0, 1, sizeof *info);
  if (status != POLAR_OK) return status;
  info = call->outputs[0].data;
  info->struct_size = sizeof *info;
  return polar_cuda_get_device_info(clamp_int32(call->values[0].count), info);
}

static napi_value give_device_info(napi_env env, call* call) {
  const polar_cuda_device_info* info = call->outputs[0].data;
  napi_value result;
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  set_text(env, result, "name", info->name);
  set_number(env, result, "computeMajor", info->compute_major);
  set_number(env, result, "computeMinor", info->compute_minor);
  set_number(env, result, "multiprocessors", info->multiprocessors);
  set_number(env, result, "totalBytes", (double)info->total_bytes);
  set_number(env, result, "freeBytes", (double)info->free_bytes);
  return result;
}

/* device, devices (ids, empty for none), layout: three values from v on */
static polar_status read_places(call* call, const value* v, polar_cuda_options* options) {
  int32_t* devices;
  int64_t i;
  polar_cuda_options_init(options);
  options->num_threads = call->work.num_threads;
  options->device = clamp_int32(v[0].count);
  options->layout = v[2].count != 0 ? POLAR_CUDA_REPLICATED : POLAR_CUDA_SHARDED;
  if (v[1].count == 0) return POLAR_OK;
  devices = call_memory(call, (size_t)v[1].count * sizeof *devices);
  if (devices == NULL) return refuse_memory(call, "devices");
  for (i = 0; i < v[1].count; ++i) devices[i] = clamp_int32(((const int64_t*)v[1].data)[i]);
  options->devices = devices;
  options->num_devices = clamp_int32(v[1].count);
  return POLAR_OK;
}

/* index, device, devices, layout, threads */
static polar_status run_from_index(call* call) {
  const value* v = call->values;
  polar_cuda_options options;
  polar_cuda_index* made = NULL;
  polar_status status = read_places(call, v + 1, &options);
  if (status == POLAR_OK) {
    status = polar_cuda_index_from_index(v[0].object->handle, &options, &made);
  }
  call->made = made;
  return status;
}

/* codec, device, devices, layout, threads, codes, n */
static polar_status run_from_codes(call* call) {
  const value* v = call->values;
  polar_cuda_options options;
  polar_cuda_index* made = NULL;
  int64_t n;
  polar_status status = count_codes(call, "codes", v[0].object, &v[5], v[6].count, &n);
  if (status == POLAR_OK) status = read_places(call, v + 1, &options);
  if (status == POLAR_OK) {
    status = polar_cuda_index_from_codes(v[0].object->handle, n, v[5].data, (size_t)v[5].count,
                                         &options, &made);
  }
  call->made = made;
  return status;
}

static napi_value give_cuda_index(napi_env env, call* call) {
  return give_object(env, call, OBJECT_CUDA_INDEX, call->values[0].object->dim);
}

/* index, queries, k, scores, ids, options */
static polar_status run_search(call* call) {
  value* v = call->values;
  int64_t nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &nq);
  if (status == POLAR_OK) status = check_results(call, nq, v[2].count, &v[3], &v[4]);
  if (status != POLAR_OK) return status;
  status = polar_cuda_index_search(v[0].object->handle, nq, v[1].data, v[2].count, search_of(call),
                                   NULL, v[3].data, v[4].data);
  return status == POLAR_OK ? finish_ids(call, &v[4]) : status;
}

static polar_status run_ntotal(call* call) {
  call->integer = polar_cuda_index_ntotal(call->values[0].object->handle);
  return POLAR_OK;
}

static polar_status run_memory_bytes(call* call) {
  size_t bytes = 0;
  polar_status status = polar_cuda_index_memory_bytes(call->values[0].object->handle, &bytes);
  call->integer = (int64_t)bytes;
  return status;
}

static polar_status run_encoder_create(call* call) {
  const value* v = call->values;
  polar_cuda_options options;
  polar_cuda_encoder* made = NULL;
  polar_status status;
  polar_cuda_options_init(&options);
  options.device = clamp_int32(v[1].count);
  status = polar_cuda_encoder_create(v[0].object->handle, &options, &made);
  call->made = made;
  return status;
}

static napi_value give_encoder(napi_env env, call* call) {
  return give_object(env, call, OBJECT_CUDA_ENCODER, call->values[0].object->dim);
}

/* encoder, rows, a code's bytes */
static polar_status run_encode(call* call) {
  const value* v = call->values;
  int64_t n;
  polar_status status = count_rows(call, "x", &v[1], v[0].object->dim, &n);
  if (status == POLAR_OK) status = make_output(call, 0, n * v[2].count, 1);
  if (status != POLAR_OK) return status;
  return polar_cuda_encoder_encode(v[0].object->handle, n, v[1].data, call->outputs[0].data,
                                   (size_t)call->outputs[0].count, NULL);
}

static polar_status run_codec_create(call* call) {
  const value* v = call->values;
  polar_cuda_options options;
  polar_cuda_codec* made = NULL;
  polar_status status;
  polar_cuda_options_init(&options);
  options.device = clamp_int32(v[1].count);
  status = polar_cuda_codec_create(v[0].object->handle, &options, &made);
  call->made = made;
  return status;
}

static napi_value give_cuda_codec(napi_env env, call* call) {
  return give_object(env, call, OBJECT_CUDA_CODEC, call->values[0].object->dim);
}

/* codec, queries, heads, codes, n: scores (heads, nq, n) */
static polar_status run_score(call* call) {
  const value* v = call->values;
  const int64_t heads = v[2].count, n = v[4].count;
  int64_t rows, nq;
  polar_status status = count_rows(call, "queries", &v[1], v[0].object->dim, &rows);
  if (status != POLAR_OK) return status;
  if (heads < 1 || rows % heads != 0) {
    return refuse(call, "heads: %lld is not allowed; it must divide the queries, %lld",
                  (long long)heads, (long long)rows);
  }
  nq = rows / heads;
  if (n < 0 || (rows > 0 && n > INT64_MAX / rows)) return refuse(call, "n: is not allowed");
  status = make_output(call, 0, rows * n, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_cuda_codec_score(v[0].object->handle, heads, nq, v[1].data, n, v[3].data,
                                (size_t)v[3].count, NULL, call->outputs[0].data);
}

/* codec, weights, heads, codes, n: sums (heads, nw, dim) */
static polar_status run_combine(call* call) {
  const value* v = call->values;
  const int64_t heads = v[2].count, n = v[4].count;
  int64_t nw;
  polar_status status;
  if (heads < 1 || n < 1 || n > INT64_MAX / heads || v[1].count % (heads * n) != 0) {
    return refuse(call, "weights: %lld numbers are not allowed; (heads, nw, n)",
                  (long long)v[1].count);
  }
  nw = v[1].count / (heads * n);
  status = make_output(call, 0, heads * nw * v[0].object->dim, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_cuda_codec_combine(v[0].object->handle, heads, nw, v[1].data, n, v[3].data,
                                  (size_t)v[3].count, NULL, call->outputs[0].data);
}

static int64_t expect_codes(const call* call) {
  const value* v = call->values;
  return v[1].count / v[0].object->dim * v[2].count;
}

const operation cuda_operations[] = {
    {"cudaDeviceCount", "", run_device_count, give_integer, false, NULL},
    {"cudaDeviceInfo", "n", run_device_info, give_device_info, false, NULL},
    {"cudaIndexFromIndex", "IninT", run_from_index, give_cuda_index, false, NULL},
    {"cudaIndexFromCodes", "CninTun", run_from_codes, give_cuda_index, false, NULL},
    {"cudaIndexSearch", "GfnfjS", run_search, NULL, false, NULL},
    {"cudaIndexNtotal", "G", run_ntotal, give_integer, false, NULL},
    {"cudaIndexMemoryBytes", "G", run_memory_bytes, give_integer, false, NULL},
    {"cudaEncoderCreate", "Cn", run_encoder_create, give_encoder, false, NULL},
    {"cudaEncoderEncode", "Efn", run_encode, give_bytes, false, expect_codes},
    {"cudaCodecCreate", "Cn", run_codec_create, give_cuda_codec, false, NULL},
    {"cudaCodecScore", "Dfnun", run_score, give_floats, false, NULL},
    {"cudaCodecCombine", "Dfnun", run_combine, give_floats, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
