/* SPDX-License-Identifier: MIT */
/* Indexes to and from files. polarquant.h has the rules for every function. */
#ifndef POLARQUANT_FILES_H
#define POLARQUANT_FILES_H

#include "polarquant/index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Index files ---------------------------------------------------------------------------- */

/* Receives the next bytes of a file, in order; non-zero ends the call with POLAR_ERROR_IO. */
typedef int32_t (*polar_write_fn)(void* user, const void* data, size_t bytes);
/* Fills up to `bytes` bytes of data, in order, and returns how many; 0 where there are no more,
 * negative ends the call with POLAR_ERROR_IO. */
typedef int64_t (*polar_read_fn)(void* user, void* data, size_t bytes);

typedef struct polar_load_options {
  uint32_t struct_size; /* sizeof(polar_load_options), set by polar_load_options_init */
  /* 1: rows of our specs, flat and in inverted files, stay in the file, which is mapped to memory.
   * Such an index cannot be changed. Its rows are verified when they are first used: 1 MiB for a
   * single row, the lists that are probed by a search of an inverted file, all by the first search
   * of a flat index or polar_index_verify. polar_index_reconstruct looks through the ids. The file
   * may be removed or replaced meanwhile, but not written to or cut short, which ends the process.
   * Not for polar_index_load_from. Default 0. */
  int32_t memory_map;
  /* 0 (default): indexes of our specs are read, and what stands around them: "Flat", "SQ8" and
   * "SQfp16", refinements by these or ours, IDMap and IDMap2, linear transforms, inverted files,
   * HNSW and NSG graphs of our specs (docs/format.md has the table). Whatever such a file says, it
   * gives an index that works or an error. All else, as "IVF1024,Flat", "HNSW32,Flat", "PQ16" and
   * "ITQ64,Polar4", is refused with POLAR_ERROR_UNSUPPORTED, whoever saved it. 1: parts of FAISS's
   * are given to FAISS's reader unchecked: for files from whom you trust, since others can end the
   * process, or worse. Checksums are verified either way. */
  int32_t trust_faiss;
  int32_t reserved; /* 0 */
} polar_load_options;

/* As polar_load_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_load_options_init_sized(polar_load_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_load_options_init(polar_load_options* options) {
  polar_load_options_init_sized(options, sizeof *options);
}

typedef struct polar_save_options {
  uint32_t struct_size; /* sizeof(polar_save_options), set by polar_save_options_init */
  /* 1: the whole file is read back before it takes its name, and refused with
   * POLAR_ERROR_CORRUPT_DATA, what was there left as it was, unless it makes an index of as many
   * rows. The index is in memory twice meanwhile. Default 0. */
  int32_t verify;
} polar_save_options;

/* As polar_save_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_save_options_init_sized(polar_save_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_save_options_init(polar_save_options* options) {
  polar_save_options_init_sized(options, sizeof *options);
}

/*
 * Writes the index to a file (docs/format.md): rows, ids, what was trained, parameters. The file
 * appears whole or not at all: it is written beside its place, synced and renamed, so that after a
 * failure, a full disk or a crash a file of that name is as it was. One failure alone comes after
 * the rename: where the folder cannot be synced, the new file is in place, a crash of the system
 * may still undo that, and the error's text says so. A symbolic link stays, and what it names is
 * made or replaced. Of threads or processes that save to one path at the same time each writes a
 * whole file, and the last one's stays. A process that is killed leaves
 * nothing on Linux's own file systems; on others it can leave a file ".polar-" with 16 hexadecimal
 * digits in the folder. POLAR_ERROR_IO: the system refused; POLAR_ERROR_UNSUPPORTED:
 * FAISS cannot write the index. options: NULL for the defaults.
 */
POLAR_API polar_status polar_index_save(const polar_index* index, const char* path,
                                        const polar_save_options* options);
/* The same bytes by calls of `write`, front to back; `verify` is not for them. */
POLAR_API polar_status polar_index_save_to(const polar_index* index, polar_write_fn write,
                                           void* user, const polar_save_options* options);
/*
 * The index of a file of polar_index_save. Nothing in the file is trusted: whatever it says, it
 * gives a working index or a status and a text that says what is wrong: POLAR_ERROR_CORRUPT_DATA,
 * POLAR_ERROR_NEWER_FORMAT, POLAR_ERROR_UNSUPPORTED, POLAR_ERROR_IO. Memory stays within what the
 * file's size and the codec of its names take. options: NULL for the defaults.
 */
POLAR_API polar_status polar_index_load(const char* path, const polar_load_options* options,
                                        polar_index** out);
/* The same by calls of `read`, front to back; no byte after the index is read. */
POLAR_API polar_status polar_index_load_from(polar_read_fn read, void* user,
                                             const polar_load_options* options, polar_index** out);
/* Reads all that a memory-mapped index has in its file: POLAR_ERROR_CORRUPT_DATA unless it is what
 * was saved. POLAR_OK at once for other indexes, which were verified when they were loaded. */
POLAR_API polar_status polar_index_verify(const polar_index* index);

#ifdef __cplusplus
}
#endif

#endif
