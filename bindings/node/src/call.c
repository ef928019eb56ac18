/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- For functions that run ------------------------------------------------------------------ */

polar_status refuse(call* call, const char* format, ...) {
  char text[320];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  free(call->text);
  call->text = malloc(strlen(text) + 1);
  if (call->text != NULL) strcpy(call->text, text);
  return POLAR_ERROR_BAD_ARGUMENT;
}

polar_status refuse_memory(call* call, const char* what) {
  refuse(call, "%s: there is no memory for it", what);
  return POLAR_ERROR_OUT_OF_MEMORY;
}

int32_t clamp_int32(int64_t integer) {
  if (integer > INT32_MAX) return INT32_MAX;
  return integer < INT32_MIN ? INT32_MIN : (int32_t)integer;
}

void* call_memory(call* call, size_t bytes) {
  void* memory;
  if (call->memory_count == MOST_MEMORY) return NULL;
  memory = malloc(bytes == 0 ? 1 : bytes);
  if (memory != NULL) call->memory[call->memory_count++] = memory;
  return memory;
}

polar_status make_output(call* call, int place, int64_t count, size_t element_bytes) {
  output* output = &call->outputs[place];
  if (!output->is_result) free(output->data);
  output->data = NULL;
  output->is_result = false;
  if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / element_bytes) {
    return refuse_memory(call, "result");
  }
  if (place == 0 && call->result.data != NULL &&
      call->result.bytes == (size_t)count * element_bytes) {
    output->data = call->result.data;
    output->count = count;
    output->is_result = true;
    return POLAR_OK;
  }
  /* So that no call can show what was in memory before. */
  output->data = calloc(count == 0 ? 1 : (size_t)count, element_bytes);
  output->count = count;
  return output->data != NULL ? POLAR_OK : refuse_memory(call, "result");
}

const polar_search_options* search_of(call* call) {
  return call->has_search ? &call->search : NULL;
}

const polar_work_options* work_of(call* call) { return &call->work; }

/* Up to here a copy is cheaper than to prepare. */
enum { kCopiedBytes = 1 << 16 };

static void make_result_buffer(napi_env env, call* call, bool is_async) {
  result_buffer* result = &call->result;
  const int64_t bytes = call->operation->expect(call);
  napi_value error;
  if (bytes <= kCopiedBytes) return;
  if (napi_create_arraybuffer(env, (size_t)bytes, &result->data, &result->value) != napi_ok ||
      (is_async && napi_create_reference(env, result->value, 1, &result->reference) != napi_ok)) {
    /* Then the call fails for lack of memory, with an error of its own. */
    napi_get_and_clear_last_exception(env, &error);
    result->data = NULL;
    return;
  }
  result->bytes = (size_t)bytes;
}

napi_value result_buffer_value(napi_env env, call* call) {
  napi_value value = NULL;
  if (call->result.reference == NULL) return call->result.value;
  napi_get_reference_value(env, call->result.reference, &value);
  return value;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool takes_turns(const object* object) {
  return object != NULL && (object->kind == OBJECT_CODEC || object->kind == OBJECT_BLOCKS ||
                            object->kind == OBJECT_BUILDER);
}

/* Blocks before their codec, everywhere. */
static void take_turns(call* call, void (*turn)(object*, bool)) {
  int i;
  for (i = 0; i < call->values_read; ++i) {
    object* object = call->values[i].object;
    if (!takes_turns(object)) continue;
    /* What is read of a builder was kept by its last change. */
    if (object->kind == OBJECT_BUILDER && !call->operation->changes) continue;
    turn(object, i == 0 && call->operation->changes);
    if (object->codec != NULL) turn(object->codec, false);
  }
}

static void keep_text(call* call) {
  const size_t length = polar_last_error(NULL, 0);
  call->text = malloc(length + 1);
  if (call->text != NULL) polar_last_error(call->text, length + 1);
}

static void run(call* call, bool is_async) {
  control* control = call->control;
  call->measured_bytes = -1;
  if (control != NULL && atomic_load(&control->is_cancelled)) {
    refuse(call, "%s: was stopped before it began", call->operation->name);
    call->status = POLAR_ERROR_CANCELLED;
    return;
  }
  if (control != NULL || is_async) {
    polar_progress_fn progress = control != NULL ? control_progress : closing_progress;
    void* user = control != NULL ? (void*)control : call->environment;
    call->work.progress = call->search.progress = progress;
    call->work.progress_user = call->search.progress_user = user;
    call->has_search = true;
  }
  take_turns(call, object_begin_turn);
  call->status = call->operation->run(call);
  if (call->status != POLAR_OK && call->text == NULL) keep_text(call);
  if (call->status == POLAR_OK && call->operation->changes) {
    call->measured_bytes = object_measure(call->values[0].object);
  }
  /* Rows that came before an error are in. */
  if (call->operation->changes && call->values[0].object->kind == OBJECT_BUILDER) {
    object_read_builder(call->values[0].object);
  }
  take_turns(call, object_end_turn);
}

/* What the call comes to; NULL with an exception pending, or when JavaScript cannot run. */
static napi_value give(napi_env env, call* call) {
  napi_value result = NULL;
  if (call->control != NULL) {
    napi_value thrown = control_thrown(env, call->control);
    if (thrown != NULL) {
      napi_throw(env, thrown);
      return NULL;
    }
  }
  if (call->status != POLAR_OK) {
    throw_status(call->environment, call->status,
                 call->text != NULL ? call->text : polar_status_name(call->status));
    return NULL;
  }
  if (call->operation->changes && call->measured_bytes >= 0) {
    object_tell_memory(env, call->values[0].object, call->measured_bytes);
  }
  if (call->operation->give != NULL) return call->operation->give(env, call);
  napi_get_undefined(env, &result);
  return result;
}

static void end(napi_env env, call* call) {
  control* control = call->control;
  int i;
  for (i = 0; i < call->values_read; ++i) {
    if (call->values[i].object != NULL) object_end_use(env, call->values[i].object);
  }
  if (call->prepared != NULL) object_end_use(env, call->prepared);
  for (i = 0; i < call->memory_count; ++i) free(call->memory[i]);
  for (i = 0; i < MOST_OUTPUTS; ++i) {
    if (!call->outputs[i].is_result) free(call->outputs[i].data);
  }
  if (call->result.reference != NULL) napi_delete_reference(env, call->result.reference);
  free(call->text);
  if (control == NULL) return;
  control->function = NULL;
  control->work = NULL;
  if (!atomic_exchange(&control->is_over, 1) && control->channel != NULL) {
    napi_release_threadsafe_function(control->channel, napi_tsfn_abort);
  }
  control_release(env, control);
}

static void execute(napi_env env, void* data) {
  (void)env;
  run(data, true);
}

static void complete(napi_env env, napi_status status, void* data) {
  call* call = data;
  napi_value result;
  if (status == napi_cancelled) {
    refuse(call, "%s: was stopped before it began", call->operation->name);
    call->status = POLAR_ERROR_CANCELLED;
  }
  result = give(env, call);
  if (result != NULL) {
    napi_resolve_deferred(env, call->deferred, result);
  } else if (napi_get_and_clear_last_exception(env, &result) == napi_ok) {
    napi_reject_deferred(env, call->deferred, result);
  }
  if (call->arguments != NULL) napi_delete_reference(env, call->arguments);
  napi_delete_async_work(env, call->async_work);
  end(env, call);
  free(call);
}

/* Keeps the typed arrays that the call reads and writes. */
static bool keep_arguments(napi_env env, const napi_value* given, call* call) {
  const char* takes = call->operation->takes;
  napi_value kept;
  uint32_t i, count = 0;
  if (napi_create_array(env, &kept) != napi_ok) return false;
  for (i = 0; takes[i] != 0; ++i) {
    if (strchr("fFuUij", takes[i]) != NULL) napi_set_element(env, kept, count++, given[i]);
    if (takes[i] == 'S') napi_set_element(env, kept, count++, given[i + FILTER_DATA]);
  }
  return count == 0 || napi_create_reference(env, kept, 1, &call->arguments) == napi_ok;
}

static napi_value start(napi_env env, const napi_value* given, call* call) {
  napi_value promise, name;
  if (!keep_arguments(env, given, call) ||
      napi_create_string_utf8(env, call->operation->name, NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_promise(env, &call->deferred, &promise) != napi_ok ||
      napi_create_async_work(env, NULL, name, execute, complete, call, &call->async_work) !=
          napi_ok) {
    end(env, call);
    free(call);
    return NULL;
  }
  if (call->control != NULL) call->control->work = call->async_work;
  napi_queue_async_work(env, call->async_work);
  return promise;
}

napi_value call_operation(napi_env env, napi_callback_info info) {
  napi_value given[1 + MOST_VALUES + SEARCH_OPTIONS], result = NULL;
  size_t count = sizeof given / sizeof given[0];
  napi_valuetype type;
  void* data;
  bool is_async = false;
  control* control = NULL;
  call on_stack, *call = &on_stack;
  environment* environment = environment_get(env);
  if (napi_get_cb_info(env, info, &count, given, NULL, &data) != napi_ok ||
      napi_typeof(env, given[0], &type) != napi_ok) {
    return NULL;
  }
  if (type == napi_external) {
    control = control_unwrap(env, given[0]);
    is_async = control->is_async;
  } else {
    napi_get_value_bool(env, given[0], &is_async);
  }
  if (is_async) call = malloc(sizeof *call);
  if (call == NULL || environment == NULL) return NULL;
  memset(call, 0, sizeof *call);
  call->operation = data;
  call->environment = environment;
  call->control = control;
  if (control != NULL) atomic_fetch_add(&control->references, 1);
  if (!read_values(env, given + 1, call)) {
    end(env, call);
    if (is_async) free(call);
    return NULL;
  }
  if (call->operation->expect != NULL) make_result_buffer(env, call, is_async);
  if (is_async) return start(env, given + 1, call);
  if (control != NULL && control->function_reference != NULL) {
    napi_get_reference_value(env, control->function_reference, &control->function);
  }
  if (call->operation->changes && environment->callback_depth > 0 &&
      takes_turns(call->values[0].object)) {
    throw_status(environment, POLAR_ERROR_BAD_ARGUMENT,
                 "a callback inside a call cannot change a Codec, CodeBlocks or IndexBuilder");
  } else {
    run(call, false);
    result = give(env, call);
  }
  end(env, call);
  return result;
}
