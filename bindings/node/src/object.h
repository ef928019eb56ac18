/* SPDX-License-Identifier: MIT */
/*
 * A handle of the library's that JavaScript holds. It lives as long as JavaScript or a call needs
 * it: closing it, or its collection as garbage, takes effect when the last call that uses it has
 * ended. Counts and flags belong to the environment's thread; the turns may be taken on any thread.
 */
#ifndef POLARQUANT_NODE_OBJECT_H
#define POLARQUANT_NODE_OBJECT_H

#include "environment.h"
#include "thread_lock.h"

typedef enum object_kind {
  OBJECT_CODEC = 'C',
  OBJECT_QUERY = 'Q',
  OBJECT_INDEX = 'I',
  OBJECT_FILTER = 'P',
  OBJECT_BLOCKS = 'B',
  OBJECT_CUDA_INDEX = 'G',
  OBJECT_CUDA_ENCODER = 'E',
  OBJECT_CUDA_CODEC = 'D',
  OBJECT_BUILDER = 'W'
} object_kind;

/* Readers together, or one writer. Readers do not wait for a writer that waits, so that a reader's
 * callback may read again. */
typedef struct turns {
  thread_lock lock;
  thread_condition changed;
  int64_t readers;
  bool has_writer;
} turns;

typedef struct object {
  object_kind kind;
  void* handle;             /* of the library; NULL for blocks, and once it was destroyed */
  struct object* codec;     /* whose codes blocks have; NULL for others */
  polar_blocks blocks;      /* of OBJECT_BLOCKS; the object owns their data */
  turns turns;              /* of codecs, blocks and builders; the library keeps those of indexes */
  int64_t uses;             /* calls under way, and objects that depend on it */
  bool is_closed;           /* nothing uses it any more but those */
  bool is_collected;        /* JavaScript has forgotten it */
  int32_t dim;              /* dimensions of a vector */
  atomic_size_t code_bytes; /* of codecs: polar_codec_info's; training may change it */
  atomic_int group_rows;    /* of codecs: polar_codec_info's */
  int64_t told_bytes;       /* memory that the garbage collector was told of */
  atomic_llong measured_rows; /* of indexes: rows when the memory was measured last */
  atomic_llong builder_rows;  /* of builders: polar_builder_ntotal after the last change */
  atomic_llong written_rows;  /* of builders: polar_builder_written after the last change */
} object;

/* Takes over a handle; NULL for lack of memory, and then the handle is destroyed. */
object* object_make(object_kind kind, void* handle, int32_t dim);
/* A value that JavaScript holds it by; NULL, and it is gone, when JavaScript cannot run. */
napi_value object_wrap(napi_env env, object* object);
/* The object that a value of object_wrap holds, or NULL. */
object* object_unwrap(napi_env env, napi_value value);
/* No further call may use it. */
void object_close(napi_env env, object* object);
void object_use(object* object);
void object_end_use(napi_env env, object* object);

/* "Index" and so on. */
const char* object_name(object_kind kind);
/* Reads what calls need of a codec; its turn is sole, or it is new. */
polar_status object_read_codec(object* codec);
/* Reads how many rows a builder has; its turn is sole, or it is new. */
void object_read_builder(object* builder);
/* Bytes of memory that it holds now, or −1 where little has changed; may wait for other calls. On
 * any thread. */
int64_t object_measure(object* object);
/* Tells the garbage collector. */
void object_tell_memory(napi_env env, object* object, int64_t bytes);

void object_begin_turn(object* object, bool is_sole);
void object_end_turn(object* object, bool is_sole);

#endif
