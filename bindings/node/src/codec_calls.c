/* SPDX-License-Identifier: MIT */
/* Codecs: made, trained, asked what they are, saved. */
#include "operations.h"
#include "results.h"

/* spec, dim, metric, seed, learnCentre, centre, normUnit */
static polar_status run_create(call* call) {
  const value* v = call->values;
  polar_codec_options options;
  polar_codec* made = NULL;
  polar_status status;
  polar_codec_options_init(&options);
  options.seed = (uint64_t)v[3].count;
  options.learn_centre = v[4].count != 0;
  options.norm_unit = v[6].number;
  if (v[5].data != NULL) {
    if (v[5].count != v[1].count) {
      return refuse(call, "centre: %lld numbers are not allowed; %lld, the dimensions",
                    (long long)v[5].count, (long long)v[1].count);
    }
    options.centre = v[5].data;
  }
  status = polar_codec_create(v[0].data, clamp_int32(v[1].count), clamp_int32(v[2].count), &options,
                              &made);
  call->made = made;
  return status;
}

static napi_value give_codec(napi_env env, call* call) {
  size_t bytes = 0;
  if (polar_codec_memory_bytes(call->made, &bytes) == POLAR_OK) {
    call->measured_bytes = (int64_t)bytes;
  }
  return give_object(env, call, OBJECT_CODEC, 0);
}

static polar_status run_load_state(call* call) {
  polar_codec* made = NULL;
  const value* v = call->values;
  polar_status status = polar_codec_load_state(v[0].data, (size_t)v[0].count, &made);
  call->made = made;
  return status;
}

static polar_status run_save_state(call* call) {
  const polar_codec* codec = call->values[0].object->handle;
  size_t needed = 0;
  polar_status status = polar_codec_save_state(codec, NULL, 0, &needed);
  if (status == POLAR_OK) status = make_output(call, 0, (int64_t)needed, 1);
  if (status != POLAR_OK) return status;
  return polar_codec_save_state(codec, call->outputs[0].data, needed, &needed);
}

static polar_status run_train(call* call) {
  object* codec = call->values[0].object;
  const value* x = &call->values[1];
  int64_t n;
  polar_status status = count_rows(call, "x", x, codec->dim, &n);
  if (status == POLAR_OK) status = polar_codec_train(codec->handle, n, x->data, work_of(call));
  return status == POLAR_OK ? object_read_codec(codec) : status;
}

static polar_status run_drift(call* call) {
  const object* codec = call->values[0].object;
  const value* x = &call->values[1];
  int64_t n;
  polar_status status = count_rows(call, "x", x, codec->dim, &n);
  if (status != POLAR_OK) return status;
  return polar_codec_drift(codec->handle, n, x->data, work_of(call), &call->number);
}

static polar_status run_encoded_bytes(call* call) {
  size_t bytes = 0;
  const value* v = call->values;
  polar_status status = polar_codec_encoded_bytes(v[0].object->handle, v[1].count, &bytes);
  call->integer = (int64_t)bytes;
  return status;
}

static polar_status run_memory_bytes(call* call) {
  size_t bytes = 0;
  polar_status status = polar_codec_memory_bytes(call->values[0].object->handle, &bytes);
  call->integer = (int64_t)bytes;
  return status;
}

static polar_status run_centre(call* call) {
  const object* codec = call->values[0].object;
  polar_status status = make_output(call, 0, codec->dim, sizeof(float));
  if (status != POLAR_OK) return status;
  return polar_codec_get_centre(codec->handle, call->outputs[0].data);
}

static polar_status run_spec(call* call) {
  const polar_codec* codec = call->values[0].object->handle;
  const size_t length = polar_codec_spec(codec, NULL, 0);
  polar_status status = make_output(call, 0, (int64_t)length + 1, 1);
  if (status == POLAR_OK) polar_codec_spec(codec, call->outputs[0].data, length + 1);
  return status;
}

static polar_status run_spec_help(call* call) {
  const size_t length = polar_spec_help(NULL, 0);
  polar_status status = make_output(call, 0, (int64_t)length + 1, 1);
  if (status == POLAR_OK) polar_spec_help(call->outputs[0].data, length + 1);
  return status;
}

static polar_status run_info(call* call) {
  polar_codec_info* info;
  polar_status status = make_output(call, 0, 1, sizeof *info);
  if (status != POLAR_OK) return status;
  info = call->outputs[0].data;
  info->struct_size = sizeof *info;
  return polar_codec_get_info(call->values[0].object->handle, info);
}

static napi_value give_info(napi_env env, call* call) {
  const polar_codec_info* info = call->outputs[0].data;
  napi_value result;
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  set_number(env, result, "dim", info->dim);
  set_number(env, result, "metric", info->metric);
  set_bool(env, result, "isTrained", info->is_trained != 0);
  set_number(env, result, "stateOrigin", info->state_origin);
  set_number(env, result, "groupRows", info->group_rows);
  set_bigint(env, result, "seed", info->seed);
  set_number(env, result, "codeBytes", (double)info->code_bytes);
  set_number(env, result, "factorBytes", (double)info->factor_bytes);
  set_number(env, result, "tailRowBytes", (double)info->tail_row_bytes);
  set_number(env, result, "bitsPerDim", info->bits_per_dim);
  set_number(env, result, "mse", info->mse);
  set_number(env, result, "centreNorm", info->centre_norm);
  set_number(env, result, "normUnit", info->norm_unit);
  set_bigint(env, result, "stateId", info->state_id);
  return result;
}

static polar_status run_plan(call* call) {
  const polar_codec* codec = call->values[0].object->handle;
  polar_codec_plan* plan;
  polar_status status = make_output(call, 0, 1, sizeof *plan);
  if (status != POLAR_OK) return status;
  plan = call->outputs[0].data;
  plan->struct_size = sizeof *plan;
  status = polar_codec_get_plan(codec, plan, NULL, 0);
  if (status == POLAR_OK) status = make_output(call, 1, plan->segments, sizeof(polar_segment));
  if (status != POLAR_OK) return status;
  return polar_codec_get_plan(codec, plan, call->outputs[1].data, plan->segments);
}

static napi_value give_plan(napi_env env, call* call) {
  const polar_codec_plan* plan = call->outputs[0].data;
  const polar_segment* segments = call->outputs[1].data;
  napi_value result, list, segment;
  uint32_t i;
  if (napi_create_object(env, &result) != napi_ok || napi_create_array(env, &list) != napi_ok) {
    return NULL;
  }
  set_bool(env, result, "hasBasis", plan->has_basis != 0);
  set_number(env, result, "error", plan->error);
  set_number(env, result, "untrainedError", plan->untrained_error);
  for (i = 0; i < plan->segments; ++i) {
    if (napi_create_object(env, &segment) != napi_ok) return NULL;
    set_number(env, segment, "first", segments[i].first);
    set_number(env, segment, "dim", segments[i].dim);
    set_number(env, segment, "bits", segments[i].bits);
    set_number(env, segment, "scale", segments[i].scale);
    napi_set_element(env, list, i, segment);
  }
  set_value(env, result, "segments", list);
  return result;
}

static polar_status run_check_same_state(call* call) {
  const value* v = call->values;
  return polar_codec_check_same_state(v[0].object->handle, v[1].object->handle);
}

const operation codec_operations[] = {
    {"codecCreate", "snnxnFr", run_create, give_codec, false, NULL},
    {"codecLoadState", "u", run_load_state, give_codec, false, NULL},
    {"codecSaveState", "C", run_save_state, give_bytes, false, NULL},
    {"codecTrain", "CfT", run_train, NULL, true, NULL},
    {"codecDrift", "CfT", run_drift, give_number, false, NULL},
    {"codecEncodedBytes", "Cn", run_encoded_bytes, give_integer, false, NULL},
    {"codecMemoryBytes", "C", run_memory_bytes, give_integer, false, NULL},
    {"codecCentre", "C", run_centre, give_floats, false, NULL},
    {"codecSpec", "C", run_spec, give_text, false, NULL},
    {"codecInfo", "C", run_info, give_info, false, NULL},
    {"codecPlan", "C", run_plan, give_plan, false, NULL},
    {"codecCheckSameState", "CC", run_check_same_state, NULL, false, NULL},
    {"specHelp", "", run_spec_help, give_text, false, NULL},
    {NULL, NULL, NULL, NULL, false, NULL}};
