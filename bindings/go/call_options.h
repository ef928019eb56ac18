/* SPDX-License-Identifier: MIT */
/* The library's options, filters and results of what Go passes. For the calls_….c alone. */
#ifndef POLARQUANT_GO_CALL_OPTIONS_H
#define POLARQUANT_GO_CALL_OPTIONS_H

#include "calls.h"

/* The status, with its text where it is not POLAR_OK. For the thread that made the call. */
polargo_result polargo_result_of(polar_status status);

/* *options, which points to `work`, until the call returns. */
void polargo_set_work(const polargo_work* work, polar_work_options* options);

/* *options with *filter in it, which point to `search`, until the call returns. */
void polargo_set_search(const polargo_search* search, polar_search_options* options,
                        polar_filter* filter);

/* *filter, which points to what `given` points to. */
void polargo_set_filter(const polargo_filter* given, polar_filter* filter);

/* A polar_progress_fn whose user is a const polargo_watch*. */
int32_t polargo_on_progress(void* watch, double done);

/* Whether the watch needs polargo_on_progress. */
int32_t polargo_is_watched(const polargo_watch* watch);

#endif
