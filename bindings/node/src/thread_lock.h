/* SPDX-License-Identifier: MIT */
/* A lock, a condition and the name of a thread, as POSIX and Windows have them. */
#ifndef POLARQUANT_NODE_THREAD_LOCK_H
#define POLARQUANT_NODE_THREAD_LOCK_H

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK thread_lock;
typedef CONDITION_VARIABLE thread_condition;
typedef DWORD thread_name;
static inline void thread_lock_init(thread_lock* lock) { InitializeSRWLock(lock); }
static inline void thread_lock_destroy(thread_lock* lock) { (void)lock; }
static inline void thread_lock_take(thread_lock* lock) { AcquireSRWLockExclusive(lock); }
static inline void thread_lock_give(thread_lock* lock) { ReleaseSRWLockExclusive(lock); }
static inline void thread_condition_init(thread_condition* c) { InitializeConditionVariable(c); }
static inline void thread_condition_destroy(thread_condition* c) { (void)c; }
static inline void thread_condition_wait(thread_condition* c, thread_lock* lock) {
  SleepConditionVariableSRW(c, lock, INFINITE, 0);
}
static inline void thread_condition_wake(thread_condition* c) { WakeAllConditionVariable(c); }
static inline thread_name this_thread(void) { return GetCurrentThreadId(); }
static inline int is_this_thread(thread_name name) { return name == GetCurrentThreadId(); }
#else
#include <pthread.h>
typedef pthread_mutex_t thread_lock;
typedef pthread_cond_t thread_condition;
typedef pthread_t thread_name;
static inline void thread_lock_init(thread_lock* lock) { pthread_mutex_init(lock, NULL); }
static inline void thread_lock_destroy(thread_lock* lock) { pthread_mutex_destroy(lock); }
static inline void thread_lock_take(thread_lock* lock) { pthread_mutex_lock(lock); }
static inline void thread_lock_give(thread_lock* lock) { pthread_mutex_unlock(lock); }
static inline void thread_condition_init(thread_condition* c) { pthread_cond_init(c, NULL); }
static inline void thread_condition_destroy(thread_condition* c) { pthread_cond_destroy(c); }
static inline void thread_condition_wait(thread_condition* c, thread_lock* lock) {
  pthread_cond_wait(c, lock);
}
static inline void thread_condition_wake(thread_condition* c) { pthread_cond_broadcast(c); }
static inline thread_name this_thread(void) { return pthread_self(); }
static inline int is_this_thread(thread_name name) { return pthread_equal(name, pthread_self()); }
#endif

#endif
