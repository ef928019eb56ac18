/* SPDX-License-Identifier: MIT */
/* The addon's exports: a function for each operation, and those that need no call of the library.
 */
#include <stdlib.h>

#include "operations.h"

/* The function that makes errors. */
static napi_value set_make_error(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t count = 1;
  environment* environment = environment_get(env);
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok) return NULL;
  if (environment->make_error != NULL) napi_delete_reference(env, environment->make_error);
  napi_create_reference(env, argument, 1, &environment->make_error);
  return NULL;
}

static napi_value close_object(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t count = 1;
  object* object;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok) return NULL;
  object = object_unwrap(env, argument);
  if (object != NULL) object_close(env, object);
  return NULL;
}

static napi_value is_closed(napi_env env, napi_callback_info info) {
  napi_value argument, result = NULL;
  size_t count = 1;
  object* object;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok) return NULL;
  object = object_unwrap(env, argument);
  napi_get_boolean(env, object == NULL || object->is_closed, &result);
  return result;
}

/* Calls on other threads end soon. */
static napi_value end_all(napi_env env, napi_callback_info info) {
  environment* environment = environment_get(env);
  (void)info;
  if (environment != NULL) atomic_store(&environment->is_closing, 1);
  return NULL;
}

static void free_environment(napi_env env, void* data, void* hint) {
  environment* environment = data;
  (void)hint;
  if (environment->make_error != NULL) napi_delete_reference(env, environment->make_error);
  free(environment);
}

static void add_function(napi_env env, napi_value exports, const char* name, napi_callback function,
                         const void* data) {
  napi_value made;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, (void*)data, &made) == napi_ok) {
    napi_set_named_property(env, exports, name, made);
  }
}

NAPI_MODULE_INIT() {
  const operation* const tables[] = {codec_operations, code_operations,         blocks_operations,
                                     index_operations, index_change_operations, file_operations,
                                     build_operations, advice_operations,       cuda_operations};
  const operation* row;
  size_t i;
  environment* made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->env = env;
  if (napi_set_instance_data(env, made, free_environment, NULL) != napi_ok) {
    free(made);
    return NULL;
  }
  for (i = 0; i < sizeof tables / sizeof tables[0]; ++i) {
    for (row = tables[i]; row->name != NULL; ++row) {
      add_function(env, exports, row->name, call_operation, row);
    }
  }
  add_function(env, exports, "setMakeError", set_make_error, NULL);
  add_function(env, exports, "control", control_create, NULL);
  add_function(env, exports, "cancel", control_cancel, NULL);
  add_function(env, exports, "close", close_object, NULL);
  add_function(env, exports, "isClosed", is_closed, NULL);
  add_function(env, exports, "endAll", end_all, NULL);
  return exports;
}
