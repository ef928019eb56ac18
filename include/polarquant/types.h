/* SPDX-License-Identifier: MIT */
/* What all topics share: version, status, metrics, filters, options of work and of searches.
 * polarquant.h has the rules for every function. */
#ifndef POLARQUANT_TYPES_H
#define POLARQUANT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(POLAR_BUILD) && defined(_WIN32)
#define POLAR_API __declspec(dllexport)
#elif defined(POLAR_BUILD) && defined(__GNUC__)
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

/* Version of the library that runs: major·10000 + minor·100 + patch. */
POLAR_API int32_t polar_version(void);
/* "0.1.0"; a static string. */
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

/* "bad argument", "not trained", …; "unknown status" for others. A static string. */
POLAR_API const char* polar_status_name(polar_status status);

/*
 * Copies the text of this thread's last failed call into buf, cut to at most cap − 1 bytes between
 * two characters and closed by 0 (nothing is written when cap is 0 or buf is NULL). Returns the
 * whole text's length without the 0. "" before the first failure; a call that succeeds does not
 * clear it. UTF-8.
 */
POLAR_API size_t polar_last_error(char* buf, size_t cap);

/* ---- Metrics -------------------------------------------------------------------------------- */

typedef int32_t polar_metric;
#define POLAR_METRIC_INNER_PRODUCT 0 /* score ⟨q,x⟩, larger is nearer */
#define POLAR_METRIC_L2 1            /* score ‖q−x‖², squared, smaller is nearer */
#define POLAR_METRIC_COSINE 2        /* rows, queries normalized on the way in; larger is nearer */

/* ---- Work options --------------------------------------------------------------------------- */

/* Told the share of the work that is done, 0 to 1; non-zero stops the call. Must not throw or
 * longjmp. */
typedef int32_t (*polar_progress_fn)(void* user, double done);

/* How a call works that trains, encodes, adds, scores or the like. */
typedef struct polar_work_options {
  uint32_t struct_size; /* sizeof(polar_work_options), set by polar_work_options_init */
  int32_t num_threads;  /* 0 to 1024; default 0 = OpenMP's default */
  /* Told now and then, from the calling thread, what share is done, as far as that is known, in
   * calls into FAISS too; within a second, but for the parts of a training that LAPACK does.
   * Non-zero stops the call, which returns POLAR_ERROR_CANCELLED and leaves everything as it was;
   * output arrays then hold nothing of use. NULL (default): nobody is told. */
  polar_progress_fn progress;
  void* progress_user;
} polar_work_options;

/* As polar_work_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_work_options_init_sized(polar_work_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_work_options_init(polar_work_options* options) {
  polar_work_options_init_sized(options, sizeof *options);
}

/* ---- Filters -------------------------------------------------------------------------------- */

/* How a polar_filter says which ids it keeps. */
typedef int32_t polar_filter_kind;
#define POLAR_FILTER_NONE 0     /* every id */
#define POLAR_FILTER_BITSET 1   /* those whose bit in `bitset` is 1 */
#define POLAR_FILTER_IDS 2      /* those listed in `ids` */
#define POLAR_FILTER_RANGE 3    /* those from range.first to before range.end */
#define POLAR_FILTER_CALLBACK 4 /* those for which callback.keep returns non-zero */
#define POLAR_FILTER_PREPARED 5 /* those of `prepared` */

/* A bit for each id from 0 on: bit id%64 of word id/64, ⌈num_bits/64⌉ words. Ids from num_bits on
 * are left out. */
typedef struct polar_bitset {
  const uint64_t* words;
  int64_t num_bits;
} polar_bitset;

/* (count) ids, ascending, without repeats. */
typedef struct polar_id_list {
  const int64_t* ids;
  int64_t count;
} polar_id_list;

/* first ≤ id < end; an end of 2^63−1: first ≤ id. An end of first or less keeps nothing. */
typedef struct polar_id_range {
  int64_t first;
  int64_t end;
} polar_id_range;

/* Non-zero keeps the id. Called from any thread, several at once; must not throw or longjmp. */
typedef int32_t (*polar_keep_fn)(void* user, int64_t id);
typedef struct polar_id_callback {
  polar_keep_fn keep;
  void* user;
} polar_id_callback;

/* A filter for many searches, polar_prepared_filter_create. */
typedef struct polar_prepared_filter polar_prepared_filter;

/* Ids to keep, of rows that a search may return or a removal takes. Only the member that `kind`
 * names is read. */
typedef struct polar_filter {
  uint32_t struct_size;   /* sizeof(polar_filter), set by polar_filter_init */
  polar_filter_kind kind; /* POLAR_FILTER_…; default POLAR_FILTER_NONE */
  polar_bitset bitset;
  polar_id_list ids;
  polar_id_range range;
  polar_id_callback callback;
  const polar_prepared_filter* prepared;
} polar_filter;

/* As polar_filter_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_filter_init_sized(polar_filter* filter, size_t struct_size);

/* Fills *filter with the defaults. NULL is ignored. */
static inline void polar_filter_init(polar_filter* filter) {
  polar_filter_init_sized(filter, sizeof *filter);
}

/*
 * *out: a filter that keeps what `filter` keeps now, for use with POLAR_FILTER_PREPARED. It has
 * copies of its bits or ids, and keeps what searches found: which rows of an index it leaves, and
 * how many. The first search of an index, and the first one after each change of its rows, finds
 * that, in about a nanosecond a row where rows have ids of the caller's, and less for positions;
 * the searches that follow need not.
 *
 * filter: any kind but POLAR_FILTER_CALLBACK, whose answers may change, and POLAR_FILTER_PREPARED.
 * One prepared filter serves any number of indexes and threads at once; it keeps what it found of
 * the last four states of indexes: an eighth of a byte a row each, and, after some searches, where
 * it leaves few rows, copies of these: of a flat index up to an eighth of all, of a graph up to
 * three fifths, but no more rows than 2,000 times ef_search, of an inverted file vectors of (dim)
 * bytes for up to an eighth.
 */
POLAR_API polar_status polar_prepared_filter_create(const polar_filter* filter,
                                                    polar_prepared_filter** out);
/* NULL is ignored. No search that uses it may be running. */
POLAR_API void polar_prepared_filter_destroy(polar_prepared_filter* prepared);

/* ---- Search options ------------------------------------------------------------------------- */

typedef struct polar_search_options {
  uint32_t struct_size; /* sizeof(polar_search_options), set by polar_search_options_init */
  int32_t num_threads;  /* 0 to 1024; default 0 = OpenMP's default */
  /* How sure rows are left out without being scored, in standard deviations of what a row's sign
   * bits say about its score; 0 to +inf, which scores every row. The default, 2.25, loses at most
   * .001 of recall@10 on real embeddings. Read by codes with signs ("Polar2" and above) of
   * 64 dimensions and more; the others always have every row scored.
   * POLAR_ERROR_UNSUPPORTED for graphs, unless it is the default. */
  float exactness;
  int32_t reserved;           /* 0 */
  const polar_filter* filter; /* which rows may be returned, by id; NULL (default): every row */
  /* Told now and then, one call at a time but from any thread, what share is done; non-zero stops
   * the search, which returns POLAR_ERROR_CANCELLED. NULL (default): nobody is told. */
  polar_progress_fn progress;
  void* progress_user;
  /* Read by searches of indexes; POLAR_ERROR_UNSUPPORTED where the index is not of that kind. */
  /* Lists of an inverted file searched a query; default 0: polar_index_nprobe. Of an inverted file
   * of our specs more with a filter (docs/search.md), and where these have fewer than k rows that
   * it keeps, all if need be. */
  int64_t nprobe;
  int64_t ef_search; /* nodes a graph's search keeps, to 2^31-1; default 0: 16, as FAISS has it */
  /* Rows that a refinement ("Polar2,RFlat") scores again for each query, as a multiple of k: 1 or
   * more, beyond the rows there are all; default 0: the index's own, 1 in a new index, which only
   * puts the k rows in better order. */
  double k_factor;
} polar_search_options;

/* As polar_search_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_search_options_init_sized(polar_search_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_search_options_init(polar_search_options* options) {
  polar_search_options_init_sized(options, sizeof *options);
}

#ifdef __cplusplus
}
#endif

#endif
