/* SPDX-License-Identifier: MIT */
/* Arguments of a call from JavaScript, by the letters of its operation. */
#include <stdio.h>
#include <string.h>

#include "call.h"

static bool read_string(napi_env env, napi_value given, call* call, value* value) {
  size_t bytes = 0;
  char* text;
  if (napi_get_value_string_utf8(env, given, NULL, 0, &bytes) != napi_ok) {
    throw_type(env, "a string is wanted");
    return false;
  }
  text = call_memory(call, bytes + 1);
  if (text == NULL || napi_get_value_string_utf8(env, given, text, bytes + 1, &bytes) != napi_ok) {
    throw_status(call->environment, POLAR_ERROR_OUT_OF_MEMORY, "a string: out of memory");
    return false;
  }
  if (strlen(text) != bytes) {
    throw_status(call->environment, POLAR_ERROR_BAD_ARGUMENT,
                 "a string: has a character NUL, which is not allowed");
    return false;
  }
  value->data = text;
  value->count = (int64_t)bytes;
  return true;
}

/* data: an array of pointers to texts, in one piece of memory. */
static bool read_strings(napi_env env, napi_value given, call* call, value* value) {
  napi_valuetype type;
  napi_value element;
  uint32_t count = 0, i;
  size_t bytes = 0, total = 0;
  char** texts;
  char* next;
  napi_typeof(env, given, &type);
  if (type == napi_undefined) return true;
  if (napi_get_array_length(env, given, &count) != napi_ok) return false;
  for (i = 0; i < count; ++i) {
    if (napi_get_element(env, given, i, &element) != napi_ok ||
        napi_get_value_string_utf8(env, element, NULL, 0, &bytes) != napi_ok) {
      throw_type(env, "an array of strings is wanted");
      return false;
    }
    total += bytes + 1;
  }
  texts = call_memory(call, count * sizeof *texts + total);
  if (texts == NULL) return false;
  next = (char*)(texts + count);
  for (i = 0; i < count; ++i) {
    texts[i] = next;
    if (napi_get_element(env, given, i, &element) != napi_ok ||
        napi_get_value_string_utf8(env, element, next, total, &bytes) != napi_ok) {
      return false;
    }
    if (strlen(next) != bytes) {
      throw_status(call->environment, POLAR_ERROR_BAD_ARGUMENT,
                   "an array of strings: one has a character NUL, which is not allowed");
      return false;
    }
    next += bytes + 1;
    total -= bytes + 1;
  }
  value->data = texts;
  value->count = count;
  return true;
}

static bool read_object(napi_env env, napi_value given, char letter, call* call, value* value) {
  object* object = object_unwrap(env, given);
  if (object == NULL || object->kind != (object_kind)letter) {
    throw_type(env, "an object of another class is wanted");
    return false;
  }
  if (object->is_closed) {
    char text[64];
    snprintf(text, sizeof text, "%s: is closed; make a new one", object_name(object->kind));
    throw_status(call->environment, POLAR_ERROR_BAD_ARGUMENT, text);
    return false;
  }
  object_use(object);
  value->object = object;
  return true;
}

static bool read_value(napi_env env, const napi_value* arguments, char letter, call* call,
                       value* value) {
  const napi_value given = *arguments;
  double threads;
  switch (letter) {
    case 'n':
      return read_integer(env, given, false, &value->count);
    case 'x':
      return read_integer(env, given, true, &value->count);
    case 'r':
      if (napi_get_value_double(env, given, &value->number) == napi_ok) return true;
      throw_type(env, "a number is wanted");
      return false;
    case 's':
      return read_string(env, given, call, value);
    case 't':
      return read_strings(env, given, call, value);
    case 'S':
      return read_search_options(env, arguments, call);
    case 'T':
      if (napi_get_value_double(env, given, &threads) != napi_ok) threads = 0;
      call->work.num_threads = (int32_t)threads;
      return true;
    case 'f':
    case 'F':
    case 'u':
    case 'U':
    case 'i':
    case 'j':
      return read_array(env, given, letter, call, value);
    default:
      return read_object(env, given, letter, call, value);
  }
}

bool read_values(napi_env env, const napi_value* given, call* call) {
  const char* letter = call->operation->takes;
  polar_work_options_init(&call->work);
  for (; *letter != 0; ++letter) {
    const int place = call->values_read++;
    if (!read_value(env, given + place, *letter, call, &call->values[place])) return false;
  }
  return true;
}
