/* SPDX-License-Identifier: MIT */
/* Typed arrays and integers from JavaScript. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

static const double kSafeInteger = 9007199254740991.0; /* 2^53 − 1 */

/* Where empty arrays are. */
static int64_t empty_array;

typedef struct view {
  napi_typedarray_type type;
  size_t length;
  void* data;
} view;

static bool get_view(napi_env env, napi_value given, view* view) {
  if (napi_get_typedarray_info(env, given, &view->type, &view->length, &view->data, NULL, NULL) !=
      napi_ok) {
    return false;
  }
  if (view->data == NULL || view->length == 0) view->data = &empty_array;
  return true;
}

bool read_integer(napi_env env, napi_value given, bool is_unsigned, int64_t* integer) {
  napi_valuetype type;
  double number;
  bool is_exact = false;
  if (napi_typeof(env, given, &type) != napi_ok) return false;
  if (type == napi_number && napi_get_value_double(env, given, &number) == napi_ok) {
    if (number == floor(number) && fabs(number) <= kSafeInteger && !(is_unsigned && number < 0)) {
      *integer = (int64_t)number;
      return true;
    }
    throw_type(env, "a number is not an integer that is exact");
    return false;
  }
  if (type != napi_bigint) {
    throw_type(env, "a number or a bigint is wanted");
    return false;
  }
  if (is_unsigned) {
    uint64_t bits = 0;
    napi_get_value_bigint_uint64(env, given, &bits, &is_exact);
    memcpy(integer, &bits, sizeof bits);
  } else {
    napi_get_value_bigint_int64(env, given, integer, &is_exact);
  }
  if (!is_exact) throw_type(env, "a bigint is beyond 64 bits");
  return is_exact;
}

static bool is_safe(double number) {
  return number == floor(number) && fabs(number) <= kSafeInteger;
}

bool read_ids(napi_env env, napi_value given, call* call, value* value) {
  view view;
  size_t i;
  int64_t* ids;
  if (!get_view(env, given, &view)) {
    throw_type(env, "ids: a typed array is wanted");
    return false;
  }
  value->count = (int64_t)view.length;
  if (view.type == napi_bigint64_array) {
    value->data = view.data;
    return true;
  }
  ids = call_memory(call, (view.length + 1) * sizeof *ids);
  if (ids == NULL) {
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "ids: out of memory");
    return false;
  }
  value->data = ids;
  switch (view.type) {
    case napi_float64_array:
      for (i = 0; i < view.length; ++i) {
        double number = ((const double*)view.data)[i];
        if (!is_safe(number)) {
          char text[120];
          napi_value error;
          snprintf(text, sizeof text,
                   "ids[%zu]: %.17g is not allowed; integers up to 2^53 - 1, or bigints", i,
                   number);
          error = make_status_error(call->environment, POLAR_ERROR_BAD_ARGUMENT, text);
          if (error != NULL) napi_throw(env, error);
          return false;
        }
        ids[i] = (int64_t)number;
      }
      return true;
    case napi_int32_array:
      for (i = 0; i < view.length; ++i) ids[i] = ((const int32_t*)view.data)[i];
      return true;
    case napi_uint32_array:
      for (i = 0; i < view.length; ++i) ids[i] = ((const uint32_t*)view.data)[i];
      return true;
    default:
      throw_type(env, "ids: integers are wanted");
      return false;
  }
}

bool read_array(napi_env env, napi_value given, char letter, call* call, value* value) {
  view view;
  napi_typedarray_type wanted = napi_float32_array;
  const char* text = "a Float32Array is wanted";
  if (letter == 'i') return read_ids(env, given, call, value);
  if (letter == 'F' || letter == 'U') {
    napi_valuetype type;
    napi_typeof(env, given, &type);
    if (type == napi_undefined) return true;
  }
  if (letter == 'u' || letter == 'U') {
    wanted = napi_uint8_array;
    text = "a Uint8Array is wanted";
  }
  if (!get_view(env, given, &view)) {
    throw_type(env, "a typed array is wanted");
    return false;
  }
  if (letter == 'j') {
    wanted = napi_bigint64_array;
    value->to_double = view.type == napi_float64_array;
    if (value->to_double) wanted = napi_float64_array;
  }
  if (view.type != wanted) {
    throw_type(env, text);
    return false;
  }
  value->data = view.data;
  value->count = (int64_t)view.length;
  return true;
}

polar_status finish_ids(call* call, value* ids) {
  int64_t i;
  char* bytes = ids->data;
  if (!ids->to_double) return POLAR_OK;
  for (i = 0; i < ids->count; ++i) {
    int64_t id;
    double number;
    memcpy(&id, bytes + i * (int64_t)sizeof id, sizeof id);
    if (id > INT64_C(9007199254740991) || id < -INT64_C(9007199254740991)) {
      return refuse(call,
                    "ids: %lld is beyond what a number holds, 2^53 - 1; ask with bigint: true",
                    (long long)id);
    }
    number = (double)id;
    memcpy(bytes + i * (int64_t)sizeof id, &number, sizeof number);
  }
  return POLAR_OK;
}
