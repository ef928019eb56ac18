/* SPDX-License-Identifier: MIT */
/*
 * polarquant: polar codes for embedding vectors, searched without decoding. The C ABI.
 *
 * Headers by topic, each of which can be included alone; this one includes all.
 *
 * Two levels. A codec turns vectors into codes that the caller stores, and scores such codes. An
 * index, made from a factory string, stores the codes itself.
 *
 * Rules for every function:
 * - Vectors are float32, row-major, (n, dim), finite. Rows, ids and k are int64_t; bytes are
 * size_t.
 * - The caller owns every buffer; the library keeps no pointer to one after a call returns.
 * - It returns POLAR_OK or a status; then polar_last_error() tells which argument was wrong, its
 *   value and what is allowed. After a failure nothing has changed, and an output handle is NULL;
 *   contents of output arrays are undefined.
 * - Calls on one polar_index may run at the same time, but for polar_index_destroy: they wait for
 *   one another where they must (index.h). On other handles calls that take a const handle may run
 * at the same time; calls that take a handle that is not const need sole use of it. Different
 * handles never interact.
 * - Structs of options, filters and infos begin with struct_size, the caller's sizeof; one that no
 * version had is refused. Fill options and filters with their _init function, then change fields;
 * bytes beyond what the library knows must be zero. The _init functions stand in the header alone:
 * they call _init_sized with its sizeof, so that a newer library writes no byte beyond an older
 * program's struct. Callers without C call _init_sized; a size below 4 writes nothing, one beyond
 * 4096 only sets struct_size to 0, which every call refuses.
 * - A code's kind is named by its spec ("Polar4"), an index by its description, a FAISS factory
 * string in which specs stand ("IVF1024,Polar4").
 * - Texts passed in are UTF-8, at most 1000 bytes long; paths are bytes, as long as the system's.
 * - Threads: what computes takes num_threads in its options; 0, and options NULL, mean OpenMP's
 * default. The library never sets it globally. A fork()ed child computes on one thread, whatever is
 * asked for.
 */
#ifndef POLARQUANT_POLARQUANT_H
#define POLARQUANT_POLARQUANT_H

/* From what all need to what few do. */
/* clang-format off */
#include "polarquant/types.h"
#include "polarquant/codec.h"
#include "polarquant/blocks.h"
#include "polarquant/index.h"
#include "polarquant/files.h"
#include "polarquant/build.h"
#include "polarquant/advice.h"
#include "polarquant/cuda.h"
/* clang-format on */

#endif
