/* SPDX-License-Identifier: MIT
 * In the place of OpenMP's header, for FAISS's sources inside the library: compilers without OpenMP
 * skip its pragmas, so that each loop of FAISS's own runs on the thread that it is called on. */
#pragma once

typedef struct {
  char unused;
} omp_lock_t;

static inline void omp_init_lock(omp_lock_t* lock) { (void)lock; }
static inline void omp_destroy_lock(omp_lock_t* lock) { (void)lock; }
static inline void omp_set_lock(omp_lock_t* lock) { (void)lock; }
static inline void omp_unset_lock(omp_lock_t* lock) { (void)lock; }

static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_in_parallel(void) { return 0; }
static inline void omp_set_num_threads(int threads) { (void)threads; }
static inline int omp_get_nested(void) { return 0; }
static inline void omp_set_nested(int nested) { (void)nested; }
