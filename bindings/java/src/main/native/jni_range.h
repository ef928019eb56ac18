/* SPDX-License-Identifier: MIT */
/* Range searches, whose results are as long as they turn out to be. */
#ifndef POLARQUANT_JNI_RANGE_H
#define POLARQUANT_JNI_RANGE_H

#include "jni_call.h"

/* One call of a range search of what `what` names. */
typedef polar_status (*jni_range_fn)(const void* what, int64_t capacity, int64_t* lims,
                                     float* scores, int64_t* ids);

/* Searches, again where more rows are found than were expected, and ends the call. A new
 * RangeResult, or NULL with an exception pending. */
jobject jni_range_search(jni_call* call, int64_t nq, jni_range_fn search, const void* what);

#endif
