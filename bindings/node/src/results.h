/* SPDX-License-Identifier: MIT */
/* What calls made, as JavaScript's values: for the `give` of operations. */
#ifndef POLARQUANT_NODE_RESULTS_H
#define POLARQUANT_NODE_RESULTS_H

#include "call.h"

/* call->integer; of uint64_t bits as a bigint. */
napi_value give_integer(napi_env env, call* call);
napi_value give_number(napi_env env, call* call);
napi_value give_bool(napi_env env, call* call);
/* outputs[0] as a Float32Array, a Uint8Array, or a text of bytes closed by 0. */
napi_value give_floats(napi_env env, call* call);
napi_value give_bytes(napi_env env, call* call);
napi_value give_text(napi_env env, call* call);
/* call->made, an object of this kind. Its dimensions are those of `dim`. */
napi_value give_object(napi_env env, call* call, object_kind kind, int32_t dim);

/* outputs[place] as a typed array. */
napi_value give_array(napi_env env, call* call, int place, napi_typedarray_type type,
                      size_t element_bytes);

/* Members of a result that is a plain object. */
void set_number(napi_env env, napi_value object, const char* name, double number);
void set_bool(napi_env env, napi_value object, const char* name, bool value);
void set_text(napi_env env, napi_value object, const char* name, const char* text);
void set_bigint(napi_env env, napi_value object, const char* name, uint64_t bits);
void set_value(napi_env env, napi_value object, const char* name, napi_value value);

#endif
