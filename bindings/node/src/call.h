/* SPDX-License-Identifier: MIT */
/*
 * One call of the library: its arguments are read from JavaScript, it runs, here or on a thread of
 * Node's pool, and what it made is given to JavaScript. A table has a row for each operation; the
 * arguments of its JavaScript function are
 *   false for a synchronous call, true for a promise, or a control (control.h), then those that
 *   `takes` names, a letter each:
 *   C Q I P B G E D W  an object of that object_kind, not closed
 *   f F              Float32Array; F: or undefined, for NULL
 *   u U              Uint8Array; U: or undefined, for NULL
 *   i                ids: BigInt64Array, or Float64Array, Int32Array, Uint32Array of integers
 *   j                where ids go: BigInt64Array, or Float64Array, for those of at most 2^53 − 1
 *   n                an integer, number or bigint, that int64_t holds; x: that uint64_t holds
 *   r                a number
 *   s                a string
 *   t                an array of strings, or undefined
 *   S                search options, the last arguments (search_options.c); or undefined
 *   T                threads to work with, a number
 * Typed arrays are used where they lie.
 */
#ifndef POLARQUANT_NODE_CALL_H
#define POLARQUANT_NODE_CALL_H

#include "control.h"
#include "object.h"

/* Search options are the last arguments, so many; one is what a filter has. */
enum { SEARCH_OPTIONS = 9, FILTER_DATA = 6 };
enum { MOST_VALUES = 14, MOST_MEMORY = 6, MOST_OUTPUTS = 3 };

typedef struct value {
  object* object;
  void* data;     /* of arrays and strings; never NULL but for F, U and t */
  int64_t count;  /* elements of arrays, bytes of strings; the integer of n and x */
  double number;  /* of r */
  bool to_double; /* of j: ids are turned into doubles, where they lie */
} value;

/* What a call made for JavaScript. */
typedef struct output {
  void* data;
  int64_t count;  /* elements */
  bool is_result; /* data is that of call->result, and not to be freed */
} output;

/* A buffer of JavaScript's for outputs[0], made before the call runs, so that large results are
 * written where they stay. Not there for small ones, which are copied. */
typedef struct result_buffer {
  void* data; /* or NULL */
  size_t bytes;
  napi_value value;   /* while a synchronous call runs */
  napi_ref reference; /* of an asynchronous one */
} result_buffer;

typedef struct operation operation;

typedef struct call {
  const operation* operation;
  environment* environment;
  value values[MOST_VALUES];
  int values_read;
  polar_work_options work;
  polar_search_options search;
  bool has_search; /* something of `search` is not the default */
  polar_filter filter;
  napi_value keep;  /* a filter's function, while a synchronous call runs; or NULL */
  object* prepared; /* a prepared filter, or NULL */
  control* control; /* or NULL */

  void* memory[MOST_MEMORY]; /* freed at the end */
  int memory_count;

  polar_status status;
  char* text; /* of a failure; NULL: there was no memory for it, or none is needed */
  void* made; /* a handle, destroyed unless it is given */
  int64_t integer;
  double number;
  output outputs[MOST_OUTPUTS];
  result_buffer result;
  int64_t measured_bytes; /* of values[0] after a change; −1: not measured */

  napi_deferred deferred;
  napi_async_work async_work;
  napi_ref arguments; /* what the caller gave, kept from collection */
} call;

struct operation {
  const char* name;
  const char* takes;
  polar_status (*run)(call* call);
  /* After success; NULL where there is nothing to give. It may throw. */
  napi_value (*give)(napi_env env, call* call);
  /* values[0] changes: a codec or blocks need sole use, and its memory is measured. */
  bool changes;
  /* Bytes that outputs[0] will probably have, or a negative number; NULL where results are small.
   */
  int64_t (*expect)(const call* call);
};

/* The value of call->result. */
napi_value result_buffer_value(napi_env env, call* call);

/* The JavaScript function of an operation, which is its data. */
napi_value call_operation(napi_env env, napi_callback_info info);

/* For functions that run. */

/* Fails with POLAR_ERROR_BAD_ARGUMENT and a text, as printf. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
polar_status
refuse(call* call, const char* format, ...);
/* Fails with POLAR_ERROR_OUT_OF_MEMORY, for lack of memory for what is named. */
polar_status refuse_memory(call* call, const char* what);
/* An integer for the library, which refuses the one that stands for all beyond its range. */
int32_t clamp_int32(int64_t integer);
/* Memory that is freed when the call ends; NULL for none. */
void* call_memory(call* call, size_t bytes);
/* Memory for outputs[place], of count elements, zeroed; POLAR_ERROR_OUT_OF_MEMORY. */
polar_status make_output(call* call, int place, int64_t count, size_t element_bytes);
/* NULL for the defaults. */
const polar_search_options* search_of(call* call);
const polar_work_options* work_of(call* call);

/* Reads all arguments of an operation; false: an exception is pending. values.c */
bool read_values(napi_env env, const napi_value* given, call* call);
/* Reads the arguments of letter S; false: an exception is pending. search_options.c */
bool read_search_options(napi_env env, const napi_value* given, call* call);
/* Reads typed arrays and numbers; false: an exception is pending. arrays.c */
bool read_array(napi_env env, napi_value given, char letter, call* call, value* value);
bool read_integer(napi_env env, napi_value given, bool is_unsigned, int64_t* integer);
/* int64_t of every element of an array of ids, in memory of the call's or where they lie. */
bool read_ids(napi_env env, napi_value given, call* call, value* value);
/* Ids of a result, in the form that JavaScript asked for. */
polar_status finish_ids(call* call, value* ids);

#endif
