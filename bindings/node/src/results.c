/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdlib.h>
#include <string.h>

napi_value give_integer(napi_env env, call* call) {
  napi_value result = NULL;
  napi_create_double(env, (double)call->integer, &result);
  return result;
}

napi_value give_number(napi_env env, call* call) {
  napi_value result = NULL;
  napi_create_double(env, call->number, &result);
  return result;
}

napi_value give_bool(napi_env env, call* call) {
  napi_value result = NULL;
  napi_get_boolean(env, call->integer != 0, &result);
  return result;
}

napi_value give_array(napi_env env, call* call, int place, napi_typedarray_type type,
                      size_t element_bytes) {
  output* output = &call->outputs[place];
  const size_t bytes = (size_t)output->count * element_bytes;
  napi_value buffer, array = NULL;
  void* copy;
  if (output->is_result) {
    buffer = result_buffer_value(env, call);
  } else {
    if (napi_create_arraybuffer(env, bytes, &copy, &buffer) != napi_ok) return NULL;
    if (bytes > 0) memcpy(copy, output->data, bytes);
  }
  napi_create_typedarray(env, type, (size_t)output->count, buffer, 0, &array);
  return array;
}

napi_value give_floats(napi_env env, call* call) {
  return give_array(env, call, 0, napi_float32_array, sizeof(float));
}

napi_value give_bytes(napi_env env, call* call) {
  return give_array(env, call, 0, napi_uint8_array, 1);
}

napi_value give_text(napi_env env, call* call) {
  napi_value result = NULL;
  napi_create_string_utf8(env, call->outputs[0].data, NAPI_AUTO_LENGTH, &result);
  return result;
}

napi_value give_object(napi_env env, call* call, object_kind kind, int32_t dim) {
  object* made = object_make(kind, call->made, dim);
  call->made = NULL;
  if (made == NULL) {
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "no memory for an object");
    return NULL;
  }
  if (kind == OBJECT_CODEC) object_read_codec(made);
  if (kind == OBJECT_BUILDER) object_read_builder(made);
  object_tell_memory(env, made, call->measured_bytes > 0 ? call->measured_bytes : 0);
  return object_wrap(env, made);
}

void set_value(napi_env env, napi_value object, const char* name, napi_value value) {
  if (value != NULL) napi_set_named_property(env, object, name, value);
}

void set_number(napi_env env, napi_value object, const char* name, double number) {
  napi_value value = NULL;
  napi_create_double(env, number, &value);
  set_value(env, object, name, value);
}

void set_bool(napi_env env, napi_value object, const char* name, bool flag) {
  napi_value value = NULL;
  napi_get_boolean(env, flag, &value);
  set_value(env, object, name, value);
}

void set_text(napi_env env, napi_value object, const char* name, const char* text) {
  napi_value value = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  set_value(env, object, name, value);
}

void set_bigint(napi_env env, napi_value object, const char* name, uint64_t bits) {
  napi_value value = NULL;
  napi_create_bigint_uint64(env, bits, &value);
  set_value(env, object, name, value);
}
