/* SPDX-License-Identifier: MIT */
/* What each JavaScript environment, the main thread's or a worker's, has of the addon. */
#ifndef POLARQUANT_NODE_ENVIRONMENT_H
#define POLARQUANT_NODE_ENVIRONMENT_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <polarquant/polarquant.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct environment {
  napi_env env;
  /* (status, text) → an error of the class for this status; given by JavaScript. */
  napi_ref make_error;
  /* JavaScript functions that run inside a call of the library on this thread. */
  int callback_depth;
  /* The process or worker ends: calls on other threads are to end soon. Read by any thread. */
  atomic_int is_closing;
} environment;

/* The environment's own; NULL while it is torn down. */
environment* environment_get(napi_env env);

/* Throws the error for a status. */
void throw_status(environment* environment, polar_status status, const char* text);
/* The error for a status, as a value; NULL when JavaScript cannot run. */
napi_value make_status_error(environment* environment, polar_status status, const char* text);
/* Throws TypeError with Node's code for arguments of wrong types. */
void throw_type(napi_env env, const char* text);

#endif
