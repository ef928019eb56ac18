/* SPDX-License-Identifier: MIT */
/*
 * System calls that fail when a test wants them to. The test program defines open, write, fsync and
 * the others itself, so that the shared library calls these in the place of the C library's. Only
 * the thread that begins a fault meets it.
 */
#ifndef POLARQUANT_TESTS_SAVES_FAILING_CALLS_H
#define POLARQUANT_TESTS_SAVES_FAILING_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* In the place of an errno: the call transfers half of what is asked for, or the process is killed
 * in front of it. */
#define FAULT_SHORT (-1)
#define FAULT_KILL (-2)

/* From now on the calls of this name are counted, "" for those of every name, and the one numbered
 * `at`, from 0, fails with `error`. */
void fault_begin(const char* call, int at, int error);
/* No call fails any longer. Returns how many were counted. */
int fault_end(void);

#ifdef __cplusplus
}
#endif

#endif
