/* SPDX-License-Identifier: MIT */
/*
 * How JavaScript follows and ends a call that runs: a flag that the library's progress function
 * reads, and a function of JavaScript's that is told the share done. In a synchronous call the
 * function is called inside it; in an asynchronous one the event loop calls it, with the newest
 * share.
 */
#ifndef POLARQUANT_NODE_CONTROL_H
#define POLARQUANT_NODE_CONTROL_H

#include "environment.h"
#include "thread_lock.h"

typedef struct control {
  environment* environment;
  atomic_int references; /* of JavaScript's value, the call, and the function's queue */
  atomic_int is_cancelled;
  atomic_int is_over; /* the call has ended: nobody is told any more */
  bool is_async;
  thread_name thread;               /* the environment's */
  napi_value function;              /* of a synchronous call, while it runs; or NULL */
  napi_ref function_reference;      /* the same between calls; or NULL */
  napi_threadsafe_function channel; /* of an asynchronous call; or NULL */
  atomic_int is_telling;            /* the channel has a share that was not told yet */
  _Atomic double share;             /* the newest */
  napi_ref thrown;                  /* [what a function of the caller's threw], or NULL */
  napi_async_work work;             /* while it is queued or runs */
} control;

/* Arguments of JavaScript: is_async, a function or undefined. */
napi_value control_create(napi_env env, napi_callback_info info);
/* Argument of JavaScript: a control. Ends its call soon. */
napi_value control_cancel(napi_env env, napi_callback_info info);
/* The control that a value holds, or NULL. */
control* control_unwrap(napi_env env, napi_value value);
void control_release(napi_env env, control* control);

/* polar_progress_fn; user: control. */
int32_t control_progress(void* user, double done);
/* polar_progress_fn of calls without a control; user: environment. */
int32_t closing_progress(void* user, double done);

/* Keeps what a function threw, unless something is kept; it is pending in env. */
void control_keep_thrown(napi_env env, control* control);
/* What was kept; NULL for nothing. */
napi_value control_thrown(napi_env env, control* control);

#endif
