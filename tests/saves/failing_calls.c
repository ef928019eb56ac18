/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/saves/failing_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static __thread const char* wanted; /* NULL: nothing fails */
static __thread int wanted_at;
static __thread int wanted_error;
static __thread int counted;

void fault_begin(const char* call, int at, int error) {
  wanted_at = at;
  wanted_error = error;
  counted = 0;
  wanted = call;
}

int fault_end(void) {
  wanted = NULL;
  return counted;
}

/* Whether this call is to fail; errno is then what it says. */
static int fails(const char* call) {
  if (wanted == NULL || (*wanted != '\0' && strcmp(wanted, call) != 0)) return 0;
  if (counted++ != wanted_at) return 0;
  if (wanted_error == FAULT_KILL) kill(getpid(), SIGKILL);
  if (wanted_error > 0) errno = wanted_error;
  return 1;
}

/* The C library's function of this name. */
#define REAL(type, name, parameters) \
  static type(*real) parameters;     \
  if (real == NULL) *(void**)(&real) = dlsym(RTLD_NEXT, name)

/* O_TMPFILE is O_DIRECTORY and a bit that musl has no name for. */
#define READ_MODE(flags, mode)                                   \
  mode_t mode = 0;                                               \
  if (((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0) { \
    va_list arguments;                                           \
    va_start(arguments, flags);                                  \
    mode = va_arg(arguments, mode_t);                            \
    va_end(arguments);                                           \
  }

int open(const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  REAL(int, "open", (const char*, int, ...));
  return fails("open") ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  REAL(int, "open64", (const char*, int, ...));
  return fails("open") ? -1 : real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  REAL(int, "openat", (int, const char*, int, ...));
  return fails("open") ? -1 : real(folder, path, flags, mode);
}

ssize_t write(int file, const void* data, size_t bytes) {
  REAL(ssize_t, "write", (int, const void*, size_t));
  if (!fails("write")) return real(file, data, bytes);
  return wanted_error == FAULT_SHORT ? real(file, data, bytes > 1 ? bytes / 2 : bytes) : -1;
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  REAL(ssize_t, "pwrite", (int, const void*, size_t, off_t));
  if (!fails("write")) return real(file, data, bytes, at);
  return wanted_error == FAULT_SHORT ? real(file, data, bytes > 1 ? bytes / 2 : bytes, at) : -1;
}

ssize_t read(int file, void* data, size_t bytes) {
  REAL(ssize_t, "read", (int, void*, size_t));
  if (!fails("read")) return real(file, data, bytes);
  return wanted_error == FAULT_SHORT ? real(file, data, bytes > 1 ? bytes / 2 : bytes) : -1;
}

ssize_t pread(int file, void* data, size_t bytes, off_t at) {
  REAL(ssize_t, "pread", (int, void*, size_t, off_t));
  if (!fails("read")) return real(file, data, bytes, at);
  return wanted_error == FAULT_SHORT ? real(file, data, bytes > 1 ? bytes / 2 : bytes, at) : -1;
}

int fsync(int file) {
  REAL(int, "fsync", (int));
  return fails("fsync") ? -1 : real(file);
}

int fdatasync(int file) {
  REAL(int, "fdatasync", (int));
  return fails("fsync") ? -1 : real(file);
}

/* As Linux does: what close says, the file is closed. */
int close(int file) {
  REAL(int, "close", (int));
  if (!fails("close")) return real(file);
  real(file);
  errno = wanted_error;
  return -1;
}

int rename(const char* from, const char* to) {
  REAL(int, "rename", (const char*, const char*));
  return fails("rename") ? -1 : real(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  REAL(int, "renameat", (int, const char*, int, const char*));
  return fails("rename") ? -1 : real(from_folder, from, to_folder, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  REAL(int, "linkat", (int, const char*, int, const char*, int));
  return fails("linkat") ? -1 : real(from_folder, from, to_folder, to, flags);
}

int fchmod(int file, mode_t mode) {
  REAL(int, "fchmod", (int, mode_t));
  return fails("fchmod") ? -1 : real(file, mode);
}

int ftruncate(int file, off_t bytes) {
  REAL(int, "ftruncate", (int, off_t));
  return fails("ftruncate") ? -1 : real(file, bytes);
}

int fstat(int file, struct stat* info) {
  REAL(int, "fstat", (int, struct stat*));
  return fails("fstat") ? -1 : real(file, info);
}

void* mmap(void* place, size_t bytes, int protection, int flags, int file, off_t at) {
  REAL(void*, "mmap", (void*, size_t, int, int, int, off_t));
  /* Memory that the C library and the allocators take is not a file's. */
  if (file >= 0 && fails("mmap")) return MAP_FAILED;
  return real(place, bytes, protection, flags, file, at);
}
