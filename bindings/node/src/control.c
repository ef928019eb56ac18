/* SPDX-License-Identifier: MIT */
#include "control.h"

#include <stdlib.h>

void control_release(napi_env env, control* control) {
  if (atomic_fetch_sub(&control->references, 1) > 1) return;
  if (control->function_reference != NULL) napi_delete_reference(env, control->function_reference);
  if (control->thrown != NULL) napi_delete_reference(env, control->thrown);
  free(control);
}

static void collect(napi_env env, void* data, void* hint) {
  control* control = data;
  (void)hint;
  /* A call that never came: its channel must not keep the loop. */
  if (control->channel != NULL && !atomic_exchange(&control->is_over, 1)) {
    napi_release_threadsafe_function(control->channel, napi_tsfn_abort);
  }
  control_release(env, control);
}

static void end_channel(napi_env env, void* data, void* hint) {
  (void)hint;
  control_release(env, data);
}

void control_keep_thrown(napi_env env, control* control) {
  napi_value error, box;
  bool is_pending = false;
  napi_is_exception_pending(env, &is_pending);
  if (!is_pending || napi_get_and_clear_last_exception(env, &error) != napi_ok) return;
  atomic_store(&control->is_cancelled, 1);
  /* What is thrown need not be an object, and references are to objects alone. */
  if (control->thrown != NULL || napi_create_array_with_length(env, 1, &box) != napi_ok) return;
  napi_set_element(env, box, 0, error);
  napi_create_reference(env, box, 1, &control->thrown);
}

napi_value control_thrown(napi_env env, control* control) {
  napi_value box, error;
  if (control->thrown == NULL || napi_get_reference_value(env, control->thrown, &box) != napi_ok ||
      napi_get_element(env, box, 0, &error) != napi_ok) {
    return NULL;
  }
  return error;
}

/* Tells a function the share done; false stops the call, and so does what it throws. `depth`: calls
 * of the library that the function runs inside. */
static void tell(napi_env env, control* control, napi_value function, double share, int depth) {
  napi_value argument, receiver, answer, no;
  bool is_no = false;
  napi_status status;
  if (napi_create_double(env, share, &argument) != napi_ok ||
      napi_get_undefined(env, &receiver) != napi_ok) {
    return;
  }
  control->environment->callback_depth += depth;
  status = napi_call_function(env, receiver, function, 1, &argument, &answer);
  control->environment->callback_depth -= depth;
  if (status != napi_ok) {
    control_keep_thrown(env, control);
  } else if (napi_get_boolean(env, false, &no) == napi_ok &&
             napi_strict_equals(env, answer, no, &is_no) == napi_ok && is_no) {
    atomic_store(&control->is_cancelled, 1);
  }
}

/* On the event loop. */
static void hear(napi_env env, napi_value function, void* context, void* data) {
  control* control = context;
  (void)data;
  if (env == NULL || function == NULL || atomic_load(&control->is_over)) return;
  atomic_store(&control->is_telling, 0);
  tell(env, control, function, atomic_load(&control->share), 0);
}

napi_value control_create(napi_env env, napi_callback_info info) {
  napi_value arguments[2], wrapped, name;
  size_t count = 2;
  napi_valuetype type;
  control* made;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok) return NULL;
  napi_typeof(env, arguments[1], &type);
  made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->environment = environment_get(env);
  made->thread = this_thread();
  napi_get_value_bool(env, arguments[0], &made->is_async);
  atomic_init(&made->references, 1);
  if (type == napi_function && !made->is_async) {
    napi_create_reference(env, arguments[1], 1, &made->function_reference);
  } else if (type == napi_function) {
    napi_create_string_utf8(env, "polarquant:progress", NAPI_AUTO_LENGTH, &name);
    atomic_fetch_add(&made->references, 1);
    if (napi_create_threadsafe_function(env, arguments[1], NULL, name, 0, 1, made, end_channel,
                                        made, hear, &made->channel) != napi_ok) {
      atomic_fetch_sub(&made->references, 1);
      made->channel = NULL;
    }
  }
  if (napi_create_external(env, made, collect, NULL, &wrapped) == napi_ok) return wrapped;
  collect(env, made, NULL);
  return NULL;
}

control* control_unwrap(napi_env env, napi_value value) {
  void* data = NULL;
  return napi_get_value_external(env, value, &data) == napi_ok ? data : NULL;
}

napi_value control_cancel(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t count = 1;
  control* control;
  if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) != napi_ok) return NULL;
  control = control_unwrap(env, argument);
  if (control == NULL) return NULL;
  atomic_store(&control->is_cancelled, 1);
  /* Of use while the call waits for a thread; one that runs reads the flag. */
  if (control->work != NULL) napi_cancel_async_work(env, control->work);
  return NULL;
}

int32_t closing_progress(void* user, double done) {
  environment* environment = user;
  (void)done;
  return atomic_load_explicit(&environment->is_closing, memory_order_relaxed);
}

int32_t control_progress(void* user, double done) {
  control* control = user;
  if (control->channel != NULL) {
    atomic_store(&control->share, done);
    if (!atomic_exchange(&control->is_telling, 1)) {
      napi_call_threadsafe_function(control->channel, NULL, napi_tsfn_nonblocking);
    }
  } else if (control->function != NULL && is_this_thread(control->thread) &&
             !atomic_load(&control->is_cancelled)) {
    napi_handle_scope scope;
    napi_env env = control->environment->env;
    if (napi_open_handle_scope(env, &scope) == napi_ok) {
      tell(env, control, control->function, done, 1);
      napi_close_handle_scope(env, scope);
    }
  }
  return atomic_load(&control->is_cancelled) | closing_progress(control->environment, done);
}
