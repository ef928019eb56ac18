/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <string.h>

environment* environment_get(napi_env env) {
  void* data = NULL;
  return napi_get_instance_data(env, &data) == napi_ok ? data : NULL;
}

napi_value make_status_error(environment* environment, polar_status status, const char* text) {
  napi_env env = environment->env;
  napi_value function, receiver, error, arguments[2];
  if (napi_get_reference_value(env, environment->make_error, &function) != napi_ok ||
      napi_get_undefined(env, &receiver) != napi_ok ||
      napi_create_int32(env, status, &arguments[0]) != napi_ok ||
      napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &arguments[1]) != napi_ok ||
      napi_call_function(env, receiver, function, 2, arguments, &error) != napi_ok) {
    return NULL;
  }
  return error;
}

void throw_status(environment* environment, polar_status status, const char* text) {
  napi_value error = make_status_error(environment, status, text);
  /* Without one, what went wrong is pending, or JavaScript has ended. */
  if (error != NULL) napi_throw(environment->env, error);
}

void throw_type(napi_env env, const char* text) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", text);
}
