/* SPDX-License-Identifier: MIT */
/* Version, status, progress, metrics and search options: what all topics share. polarquant.h has
 * the rules for every function. */
#ifndef POLARQUANT_TYPES_H
#define POLARQUANT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(POLAR_BUILD) && defined(__GNUC__)
#define POLAR_API __attribute__((visibility("default")))
#else
#define POLAR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version -------------------------------------------------------------------------------- */

#define POLAR_VERSION_MAJOR 0
#define POLAR_VERSION_MINOR 1
#define POLAR_VERSION_PATCH 0

/* Version of the library that runs: major·10000 + minor·100 + patch. since 0.1 */
POLAR_API int32_t polar_version(void);
/* "0.1.0"; a static string. since 0.1 */
POLAR_API const char* polar_version_string(void);

/* ---- Status --------------------------------------------------------------------------------- */

typedef int32_t polar_status;
#define POLAR_OK 0                    /* it worked */
#define POLAR_ERROR_BAD_ARGUMENT 10   /* an argument is outside what is allowed */
#define POLAR_ERROR_UNSUPPORTED 20    /* this build or this codec cannot do it */
#define POLAR_ERROR_NOT_TRAINED 30    /* train first */
#define POLAR_ERROR_NOT_FOUND 40      /* no such id */
#define POLAR_ERROR_STATE_MISMATCH 50 /* codes, queries or codecs of different states met */
#define POLAR_ERROR_OUT_OF_MEMORY 60  /* an allocation failed */
#define POLAR_ERROR_CORRUPT_DATA 70   /* stored bytes are damaged or not ours */
#define POLAR_ERROR_NEWER_FORMAT 80   /* stored bytes are of a newer format than this library */
#define POLAR_ERROR_IO 90             /* reading or writing failed */
#define POLAR_ERROR_CUDA 100          /* a CUDA call failed */
#define POLAR_ERROR_CANCELLED 110     /* a callback asked to stop */
#define POLAR_ERROR_INTERNAL 120      /* a bug in the library; please report it */

/* "bad argument", "not trained", …; "unknown status" for others. A static string. since 0.1 */
POLAR_API const char* polar_status_name(polar_status status);

/*
 * Copies the text of this thread's last failed call into buf, cut to at most cap − 1 bytes between
 * two characters and closed by 0 (nothing is written when cap is 0 or buf is NULL). Returns the
 * whole text's length without the 0. "" before the first failure; a call that succeeds does not
 * clear it. UTF-8. since 0.1
 */
POLAR_API size_t polar_last_error(char* buf, size_t cap);

/* ---- Progress of long calls ----------------------------------------------------------------- */

/* Told the share of the work that is done, 0 to 1; non-zero stops the call. */
typedef int32_t (*polar_progress_fn)(void* user, double done);

/*
 * For the calls that this thread makes from now on: what trains, adds, updates or encodes tells
 * `progress` now and then, from this thread, what share of the work is done, 0 to 1, as far as that
 * is known; non-zero stops the call, which returns POLAR_ERROR_CANCELLED and leaves everything as
 * it was (polar_codec_encode: codes of no use). Calls made inside `progress` tell nobody. NULL, as
 * at first: nobody is told. Within a second, but for the parts of a training that LAPACK does.
 * Heard by polar_codec_train, polar_codec_encode, polar_index_train,
 * polar_index_train_with_centroids, polar_index_add, polar_index_add_with_ids,
 * polar_index_add_to_lists and polar_index_update, those through FAISS included; searches and
 * polar_advice_create have options of their own. since 0.1
 */
POLAR_API void polar_set_thread_progress(polar_progress_fn progress, void* user);

/* ---- Metrics -------------------------------------------------------------------------------- */

typedef int32_t polar_metric;
#define POLAR_METRIC_INNER_PRODUCT 0 /* score ⟨q,x⟩, larger is nearer */
#define POLAR_METRIC_L2 1            /* score ‖q−x‖², squared, smaller is nearer */
#define POLAR_METRIC_COSINE 2        /* rows, queries normalized on the way in; larger is nearer */

/* ---- Search options ------------------------------------------------------------------------- */

/* Which rows a search may return, by id. */
typedef int32_t polar_filter_kind;
#define POLAR_FILTER_NONE 0     /* every row */
#define POLAR_FILTER_BITSET 1   /* ids whose bit is 1; ids from num_bits on are left out */
#define POLAR_FILTER_IDS 2      /* the ids listed, ascending */
#define POLAR_FILTER_RANGE 3    /* first_id ≤ id < end_id; an end_id of 2^63-1: first_id ≤ id */
#define POLAR_FILTER_CALLBACK 4 /* ids for which `keep` returns non-zero */

typedef struct polar_search_options {
  uint32_t struct_size; /* sizeof(polar_search_options), set by polar_search_options_init */
  int32_t num_threads;  /* 0 to 1024; default 0 = the codec's, else OpenMP's default */
  /* How sure rows are left out without being scored, in standard deviations of what a row's sign
   * bits say about its score; 0 to +inf, which scores every row. The default, 2.25, loses at most
   * .001 of recall@10 on real embeddings. Read by codes with a sign plane ("Polar2" and above;
   * "Polar8" has none) of 64 dimensions and more; the others always have every row scored.
   * POLAR_ERROR_UNSUPPORTED for graphs, unless it is the default. */
  float exactness;
  polar_filter_kind filter; /* POLAR_FILTER_…; the fields below that it names must be set */
  const uint64_t* bits;     /* bit id%64 of word id/64; ⌈num_bits/64⌉ words */
  int64_t num_bits;
  const int64_t* ids; /* (num_ids), ascending, without repeats */
  int64_t num_ids;
  int64_t first_id;
  int64_t end_id;
  /* Called from any thread, several at once; must not throw or longjmp. */
  int32_t (*keep)(void* user, int64_t id);
  void* keep_user;
  /* Told now and then, one call at a time but from any thread, the share of the work that is done,
   * 0 to 1; non-zero stops the search, which returns POLAR_ERROR_CANCELLED. May be NULL. */
  int32_t (*progress)(void* user, double done);
  void* progress_user;
  /* Read by searches of indexes; POLAR_ERROR_UNSUPPORTED where the index is not of that kind. */
  int64_t nprobe;    /* lists of an inverted file searched a query; default 0: polar_index_nprobe */
  int64_t ef_search; /* nodes a graph's search keeps, to 2^31-1; default 0: 16, as FAISS has it */
  /* Rows that a refinement ("Polar2,RFlat") scores again for each query, as a multiple of k: 1 or
   * more, beyond the rows there are all; default 0: the index's own, 1 in a new index, which only
   * puts the k rows in better order. */
  double k_factor;
} polar_search_options;

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_search_options_init(polar_search_options* options);

#ifdef __cplusplus
}
#endif

#endif
