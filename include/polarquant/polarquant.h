/* SPDX-License-Identifier: MIT */
/*
 * polarquant: polar codes for embedding vectors, searched without decoding. The C ABI.
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
 * - Calls that take a const handle may run at the same time on one handle; calls that take a handle
 *   that is not const need sole use of it. Different handles never interact.
 * - Structs begin with struct_size, the caller's sizeof; one that no version had is refused. Fill
 *   options with their _init function, then change fields; bytes beyond what the library knows must
 *   be zero.
 * - Texts passed in are UTF-8, at most 1000 bytes long; paths are bytes, as long as the system's.
 * - Threads: num_threads 0 means OpenMP's default. The library never sets it globally. A fork()ed
 * child computes on one thread, whatever is asked for.
 */
#ifndef POLARQUANT_POLARQUANT_H
#define POLARQUANT_POLARQUANT_H

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

/* ---- Codec ---------------------------------------------------------------------------------- */

/* Turns vectors into codes and scores codes. Immutable but for train. */
typedef struct polar_codec polar_codec;

typedef struct polar_codec_options {
  uint32_t struct_size; /* sizeof(polar_codec_options), set by polar_codec_options_init */
  int32_t num_threads;  /* for encode, score and search; 0 to 1024, default 0 = OpenMP's default */
  uint64_t seed;        /* of the random rotation; any value, default 1 */
  const float* centre;  /* (dim), or NULL (default): learned when learn_centre, else 0 */
  double norm_unit;     /* typical ‖x−centre‖, 2^-40 to 2^40; default 0: learned, 1 before */
  int32_t learn_centre; /* 0 or 1 (default): train may set the centre to the rows' mean */
  int32_t reserved;     /* 0 */
} polar_codec_options;

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_codec_options_init(polar_codec_options* options);

/*
 * Makes a codec. spec: "Polar2", "Polar4+2-dense", "PolarTree4.2.2.2", "PolarPair4x4",
 * "PolarScalar4", …: docs/codec.md lists all, polar_spec_help() prints them. dim: 1 to 65535.
 * options: NULL for the defaults. *out is NULL after a failure.
 * Cost: O(dim) time and memory; a "-dense" rotation takes O(dim²). since 0.1
 */
POLAR_API polar_status polar_codec_create(const char* spec, int32_t dim, polar_metric metric,
                                          const polar_codec_options* options, polar_codec** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_codec_destroy(polar_codec* codec);

/*
 * Copies a text that lists every codec name's form, meaning and an example, as polar_last_error
 * copies its text. since 0.1
 */
POLAR_API size_t polar_spec_help(char* buf, size_t cap);

typedef struct polar_codec_info {
  uint32_t struct_size;  /* set by the caller to sizeof(polar_codec_info) before the call */
  int32_t dim;           /* dimensions of a vector */
  polar_metric metric;   /* POLAR_METRIC_… */
  int32_t is_trained;    /* 0 only while encode must wait for train */
  int32_t state_origin;  /* centre and unit: 0 as created, 2 trained; 1 in states of earlier
                            versions, from an index's first rows */
  int32_t group_rows;    /* rows that share a code; 1 for all but PolarPair…g128 */
  uint64_t seed;         /* of the rotation */
  size_t code_bytes;     /* bytes of one code (of group_rows rows), factors included */
  size_t factor_bytes;   /* of these, the factors; 0 for codecs without factors */
  size_t tail_row_bytes; /* bytes of a row of the unfinished last group; 0 when group_rows is 1 */
  double bits_per_dim;   /* 8·code_bytes / (group_rows·dim), factors included */
  double mse;            /* error per dimension on the unit Gaussian; 0 where not defined */
  double centre_norm;    /* ‖centre‖ */
  double norm_unit;      /* power of two near the typical ‖x−centre‖ */
  uint64_t state_id;     /* equal exactly for codecs whose codes mix */
} polar_codec_info;

/* Fills *info up to its struct_size; what the library does not know becomes 0. since 0.1 */
POLAR_API polar_status polar_codec_get_info(const polar_codec* codec, polar_codec_info* info);
/* Copies the canonical spec, as polar_last_error copies its text; 0 for a NULL codec. since 0.1 */
POLAR_API size_t polar_codec_spec(const polar_codec* codec, char* buf, size_t cap);
/* Copies the centre, (dim), zeros when there is none. since 0.1 */
POLAR_API polar_status polar_codec_get_centre(const polar_codec* codec, float* centre);
/* Memory held by the codec: rotation, tables, centre. 0 for NULL. since 0.1 */
POLAR_API size_t polar_codec_memory_bytes(const polar_codec* codec);

/*
 * Learns the centre, the unit and, where the codec has them, codebooks from n ≥ 1 rows x, (n, dim),
 * a sample of what will be encoded. The centre is the mean, and the unit a power of two near the
 * root mean square of ‖x−centre‖, of the typical rows: those up to eight times as far from it as
 * nine of ten are, nearly always all, so that a few rows of another scale decide nothing. Where the
 * mean would be further from the middle row than 0 is, the centre stays 0. What is learned decides
 * how well rows are coded, never whether they can be (polar_codec_encode). A codec that is not
 * trained has the centre and unit that it was created with, 0 and 1 by default.
 * Optional for most codecs, required for PolarPairMxN, PolarTree…-online and …-pca, which also
 * learns its rotation and plan: from n ≥ 2·dim rows, better 10·dim, in O(n·dim² + dim³), and, of
 * 512 rows and more, how far searches' estimates are off. A row that is not finite, or longer than
 * 2^61 (2.3e18) but for cosine, is refused by number, and nothing is learned.
 * POLAR_ERROR_STATE_MISMATCH once this codec has encoded anything. Needs sole use. since 0.1
 */
POLAR_API polar_status polar_codec_train(polar_codec* codec, int64_t n, const float* x);

/* A segment of a …-pca codec's plan: rotated coordinates that have one rate. */
typedef struct polar_segment {
  int32_t first; /* its first coordinate; segments lie one behind the other, by falling energy */
  int32_t dim;   /* coordinates: 64, or fewer in the last one */
  double bits;   /* a dimension: 0 (nothing of it is stored), 0.5 … 5, 6, 7, 8 */
  double scale;  /* standard deviation of its coordinates of √dim·R(x−c)/‖x−c‖ */
} polar_segment;

typedef struct polar_codec_plan {
  uint32_t struct_size; /* set by the caller to sizeof(polar_codec_plan) before the call */
  int32_t has_basis;    /* 1: rotation and rates are trained; 0: they gained too little on rows that
                           were held out, so that codes are those of the untrained codec */
  int64_t segments;     /* of dim */
  double error; /* on rows that were held out: mean ‖x̂−x‖²/‖x−c‖², x̂ unbiased */
  double untrained_error; /* the same of the untrained codec */
} polar_codec_plan;

/*
 * Fills *plan, and the first min(cap, plan->segments) of segments, which may be NULL when cap is 0.
 * POLAR_ERROR_UNSUPPORTED unless the codec is …-pca; POLAR_ERROR_NOT_TRAINED before train.
 * since 0.1
 */
POLAR_API polar_status polar_codec_get_plan(const polar_codec* codec, polar_codec_plan* plan,
                                            polar_segment* segments, int64_t cap);

/*
 * How well a …-pca codec still fits: *drift becomes the error of n ≥ 1 rows x, (n, dim), divided by
 * the error of the rows that training held out. Near 1: as well as then; above 1.2 or so it is time
 * to train a new codec. Errors as polar_codec_get_plan. Cost: that of encoding. since 0.1
 */
POLAR_API polar_status polar_codec_drift(const polar_codec* codec, int64_t n, const float* x,
                                         double* drift);

/*
 * Bytes of n ≥ 0 encoded rows: n·code_bytes, or for group_rows > 1:
 * ⌊n/group_rows⌋·code_bytes + (n mod group_rows)·tail_row_bytes. since 0.1
 */
POLAR_API polar_status polar_codec_encoded_bytes(const polar_codec* codec, int64_t n,
                                                 size_t* bytes);

/*
 * Codes n ≥ 0 rows x, (n, dim), into codes; codes_bytes must be polar_codec_encoded_bytes(n). The
 * bytes are the same on every machine and are laid out as docs/format.md says. Every finite row is
 * coded at any time, whatever the codec was trained on: those nearer to the centre than 2^-61 units
 * as the centre itself, and only those further away than 2^61 or than 2^61 units, which scores in
 * floats could not hold, are refused by number. (A state that a library before format 4 wrote has
 * factors of less range: 2^-13 and 2^14 units.) Cost: O(n·dim·256). since 0.1
 */
POLAR_API polar_status polar_codec_encode(const polar_codec* codec, int64_t n, const float* x,
                                          uint8_t* codes, size_t codes_bytes);

typedef int32_t polar_reconstruction;
#define POLAR_RECONSTRUCTION_LEAST_ERROR 0 /* centre + s(1−D)·Rᵀû: nearest to x on average */
#define POLAR_RECONSTRUCTION_UNBIASED 1    /* centre + s·Rᵀû: inner products unbiased */

/* Decodes all n rows of codes into x, (n, dim). codes_bytes as for encode. since 0.1 */
POLAR_API polar_status polar_codec_decode(const polar_codec* codec, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, polar_reconstruction kind, float* x);

/* ---- Scores over codes the caller owns ------------------------------------------------------ */

/* A query prepared for one codec: rotated and centred once, scored many times. Immutable. */
typedef struct polar_query polar_query;

/* q: (dim). Cost O(dim log dim), O(dim²) for "-dense". since 0.1 */
POLAR_API polar_status polar_query_prepare(const polar_codec* codec, const float* q,
                                           polar_query** out);
/* The query is the vector that stands behind row `row` of n coded rows, 0 ≤ row < n. since 0.1 */
POLAR_API polar_status polar_query_prepare_from_code(const polar_codec* codec, int64_t n,
                                                     const uint8_t* codes, size_t codes_bytes,
                                                     int64_t row, polar_query** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_query_destroy(polar_query* query);

/*
 * scores, (n): estimate for each row by the codec's metric: ⟨q,x⟩, cosine, or ‖q−x‖² (an estimate,
 * so it can be slightly below 0). POLAR_ERROR_STATE_MISMATCH for a query of another codec state.
 * since 0.1
 */
POLAR_API polar_status polar_codec_score(const polar_codec* codec, const polar_query* query,
                                         int64_t n, const uint8_t* codes, size_t codes_bytes,
                                         float* scores);

/*
 * The k best of n coded rows for each of nq queries, (nq, dim): scores and ids, both (nq, k), best
 * first, ties by lower id; ids are row positions. Where n < k, id −1 with score −inf (inner
 * product, cosine) or +inf (L2). k ≥ 1. The result does not depend on the number of threads.
 * The flagship's rows, residual codes and Polar8 are ranked by integer scores, within 1 % of the
 * codes' own error of polar_codec_score; docs/search.md says which rows are left out. since 0.1
 */
POLAR_API polar_status polar_codec_search(const polar_codec* codec, int64_t nq,
                                          const float* queries, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, int64_t k, float* scores,
                                          int64_t* ids);

/* The same with options, NULL for the defaults; a filter's ids are row positions. After a failure
 * scores and ids hold nothing of use. since 0.1 */
POLAR_API polar_status polar_codec_search_with_options(const polar_codec* codec, int64_t nq,
                                                       const float* queries, int64_t n,
                                                       const uint8_t* codes, size_t codes_bytes,
                                                       int64_t k,
                                                       const polar_search_options* options,
                                                       float* scores, int64_t* ids);

/*
 * scores, (na, nb): estimates between every row of a and every row of b, from codes alone;
 * symmetric. L2 estimates can be below 0, most of all of a row to itself. since 0.1
 */
POLAR_API polar_status polar_codec_score_codes(const polar_codec* codec, int64_t na,
                                               const uint8_t* codes_a, size_t codes_a_bytes,
                                               int64_t nb, const uint8_t* codes_b,
                                               size_t codes_b_bytes, float* scores);

/*
 * out, (nw, dim): Σ_i weights[w,i]·x̂_i over n rows for each of nw weight vectors, (nw, n), finite;
 * x̂ is the reconstruction of least error. Rows are decoded one at a time. since 0.1
 */
POLAR_API polar_status polar_codec_combine(const polar_codec* codec, int64_t n,
                                           const uint8_t* codes, size_t codes_bytes, int64_t nw,
                                           const float* weights, float* out);

/* ---- Blocks --------------------------------------------------------------------------------- */

/*
 * Codes in blocks of 64 rows, as an index keeps them, in memory of the caller's: what searches read
 * fastest (docs/search.md; docs/format.md has the bytes). For codecs of Polar0.5 to Polar8 and
 * residual codes; POLAR_ERROR_UNSUPPORTED for the others. The caller keeps the number of rows.
 * blocks: on a 64-byte boundary; blocks_bytes: what it has room for, at least polar_blocks_bytes of
 * the rows after the call. Changes need sole use of the blocks; a call that fails changes nothing
 * but where it says so.
 */

/* *bytes: what blocks of n ≥ 0 rows take, with what a search may read behind them. since 0.1 */
POLAR_API polar_status polar_blocks_bytes(const polar_codec* codec, int64_t n, size_t* bytes);
/* Packs n codes behind the `rows` rows held, which become rows + n. since 0.1 */
POLAR_API polar_status polar_blocks_append(const polar_codec* codec, int64_t n,
                                           const uint8_t* codes, size_t codes_bytes, int64_t rows,
                                           uint8_t* blocks, size_t blocks_bytes);
/* The codes of `count` rows from row `first` on, exactly as they were packed. since 0.1 */
POLAR_API polar_status polar_blocks_get(const polar_codec* codec, int64_t rows,
                                        const uint8_t* blocks, size_t blocks_bytes, int64_t first,
                                        int64_t count, uint8_t* codes, size_t codes_bytes);
/* One code in the place of row `row`. since 0.1 */
POLAR_API polar_status polar_blocks_overwrite(const polar_codec* codec, const uint8_t* code,
                                              size_t code_bytes, int64_t rows, uint8_t* blocks,
                                              size_t blocks_bytes, int64_t row);
/* Takes out the rows whose bit is 1, bit row%64 of word row/64 of ⌈rows/64⌉ words; the others keep
 * their order. *left: rows that stay. since 0.1 */
POLAR_API polar_status polar_blocks_remove(const polar_codec* codec, const uint64_t* removed,
                                           int64_t rows, uint8_t* blocks, size_t blocks_bytes,
                                           int64_t* left);
/* The last row takes the place of row `row`; rows become rows − 1. since 0.1 */
POLAR_API polar_status polar_blocks_swap_remove(const polar_codec* codec, int64_t row, int64_t rows,
                                                uint8_t* blocks, size_t blocks_bytes);
/* As polar_codec_search_with_options. since 0.1 */
POLAR_API polar_status polar_blocks_search(const polar_codec* codec, int64_t nq,
                                           const float* queries, int64_t rows,
                                           const uint8_t* blocks, size_t blocks_bytes, int64_t k,
                                           const polar_search_options* options, float* scores,
                                           int64_t* ids);

/* ---- Codec state ---------------------------------------------------------------------------- */

/*
 * Writes everything that decides the bytes of codes. *needed becomes the size; when buf is NULL or
 * cap is smaller, nothing is written (POLAR_OK for a NULL buf, POLAR_ERROR_BAD_ARGUMENT for a small
 * one). Format: docs/format.md. since 0.1
 */
POLAR_API polar_status polar_codec_save_state(const polar_codec* codec, uint8_t* buf, size_t cap,
                                              size_t* needed);
/* A codec with that state; num_threads 0. Damaged bytes are refused. since 0.1 */
POLAR_API polar_status polar_codec_load_state(const uint8_t* data, size_t bytes, polar_codec** out);
/* POLAR_OK when codes of a and b mix, else POLAR_ERROR_STATE_MISMATCH; the text names what differs.
 * since 0.1 */
POLAR_API polar_status polar_codec_check_same_state(const polar_codec* a, const polar_codec* b);

/* ---- Advice --------------------------------------------------------------------------------- */

/* Which code to take for vectors like a sample: every candidate measured on it. Immutable. */
typedef struct polar_advice polar_advice;

typedef struct polar_advice_options {
  uint32_t struct_size; /* sizeof(polar_advice_options), set by polar_advice_options_init */
  int32_t num_threads;  /* 0 to 1024; default 0 = OpenMP's default */
  uint64_t seed;        /* draws the parts of the sample, and rotations; any value, default 1 */
  int64_t k;            /* neighbours searched for; 1 to max_rows/10, default 10 */
  /* What is asked for; 0 (default): nothing. With wanted_recall, 0 to 1, the code of the fewest
   * bytes that surely reaches it is recommended; with allowed_bytes, per vector, the one of the
   * highest recall within them; with both, the first if it fits; with neither, the best value: the
   * most of recall less .01 for each half bit a dimension. */
  double wanted_recall;
  double allowed_bytes;
  int64_t max_rows;    /* rows searched at most; 10 to 2^40, default 20000 */
  int64_t max_queries; /* queries at most; 10 to 2^40, default 1000 */
  int64_t total_rows;  /* rows there will be, up to 2^40; default 0: n, the sample is all */
  /* (num_specs) names of codes to measure, as polar_codec_create takes them; by default, NULL,
   * those of 0.5 to 8 bits a dimension that a user would choose among, with and without "-pca". The
   * untrained code of each "-pca" is measured too. */
  const char* const* specs;
  int64_t num_specs;
  /* As polar_search_options's. Training one code is not interrupted. */
  int32_t (*progress)(void* user, double done);
  void* progress_user;
} polar_advice_options;

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_advice_options_init(polar_advice_options* options);

/*
 * Measures codes on n rows x, (n, dim), drawn from what is to be stored, and nq queries, (nq, dim).
 * With nq = 0 (queries may then be NULL) a tenth of the rows is held out as queries; give queries
 * of your own, 10 or more, where they are of another kind than the rows. Parts are drawn at random
 * by the seed: queries; up to half of the other rows, at most the larger of 20·dim and 10,000, to
 * train on; of the rest max_rows to search. No row is in two parts, so that recall is that of rows
 * which training has not seen. About 22·k rows are needed, "-pca" takes 2·dim to train on, better
 * 10·dim.
 *
 * Recall@k is the share of the k exact neighbours among the k that a search with the default
 * exactness finds, over the rows searched; rows as near as the k-th count as found. Over more rows
 * it is lower on some data, as neighbours lie closer together. So a quarter of these rows is
 * searched alone, too: by how much more is missed over all of them, expected_recall tells recall
 * over total_rows, and the recommendation goes by it; "surely" above means by more than
 * recall_margin. A trained code is recommended only when it finds more than its untrained one by
 * more than noise: query by query, by more than 1.96 standard errors.
 *
 * The result is the same for the same arguments, whatever the number of threads; where a code is
 * trained, on one machine and LAPACK. A code that cannot be measured has its problem told in its
 * row. POLAR_ERROR_BAD_ARGUMENT for too few rows, numbers that are not finite, wrong names;
 * POLAR_ERROR_CANCELLED. *out is NULL after a failure.
 * Cost: for each code a training, max_rows encoded and max_queries searched for: a
 * minute on two cores for 384 dimensions by the defaults, three for 1,536; training grows with
 * dim³. Memory: the drawn rows as floats, and one code's rows. since 0.1
 */
POLAR_API polar_status polar_advice_create(int32_t dim, polar_metric metric, int64_t n,
                                           const float* x, int64_t nq, const float* queries,
                                           const polar_advice_options* options, polar_advice** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_advice_destroy(polar_advice* advice);

typedef struct polar_advice_info {
  uint32_t struct_size;     /* set by the caller to sizeof(polar_advice_info) before the call */
  int32_t held_out_queries; /* 1: the queries are rows of the sample */
  int64_t rows;             /* codes measured, of polar_advice_get_row */
  int64_t recommended;      /* row to take; −1: no code is what was asked for */
  const char* reason;       /* why, in a sentence or two; UTF-8, valid as long as the advice */
  int64_t queries;          /* vectors in each part of the sample */
  int64_t base_rows;        /* searched */
  int64_t train_rows;
} polar_advice_info;

/* Fills *info up to its struct_size; what the library does not know becomes 0. since 0.1 */
POLAR_API polar_status polar_advice_get_info(const polar_advice* advice, polar_advice_info* info);

/* One code on the sample. */
typedef struct polar_advice_row {
  uint32_t struct_size;    /* set by the caller to sizeof(polar_advice_row) before the call */
  int32_t needs_training;  /* 1: polar_codec_train must come before encode */
  const char* spec;        /* its name; valid as long as the advice */
  const char* problem;     /* "", or why it was not measured: then the numbers below are 0 */
  double bytes_per_vector; /* factors included */
  double recall;           /* recall@k, 0 to 1 */
  double recall_margin;    /* half of its 95 % interval, by the queries' spread */
  double quarter_recall;   /* recall@k when only a quarter of the rows is searched */
  double expected_recall;  /* recall@k over total_rows; recall when nothing speaks against it */
  double error;       /* mean ‖x̂−x‖²/‖x−c‖², x̂ unbiased, of rows not trained on */
  double gain;        /* recall less that of the untrained code; 0 unless "-pca" */
  double gain_margin; /* half of the 95 % interval of the gain */
  size_t codec_bytes; /* memory of rotation and tables, once for all vectors */
  int32_t pays;       /* 0: "-pca" that gains no more than noise, and is never recommended */
  int32_t is_recommended; /* 1 for the row of polar_advice_info.recommended */
} polar_advice_row;

/* Fills *filled with row `row`, 0 ≤ row < rows, by rising bytes for the default codes. since 0.1 */
POLAR_API polar_status polar_advice_get_row(const polar_advice* advice, int64_t row,
                                            polar_advice_row* filled);

/* ---- Index ---------------------------------------------------------------------------------- */
/* Needs a library built with FAISS; without it each call returns POLAR_ERROR_UNSUPPORTED. */

/* Vectors stored as codes, searched by the k nearest. */
typedef struct polar_index polar_index;

/*
 * description: one of our specs, alone ("Polar2") or in a FAISS factory string ("PCA128,Polar4",
 * "Polar2,RFlat"), or any FAISS string whose numbers are 1 or more. Cosine: rows and queries are
 * normalized on the way in (zero stays zero) to an index of inner products. dim: 1 to 65535.
 * since 0.1
 */
POLAR_API polar_status polar_index_create(const char* description, int32_t dim, polar_metric metric,
                                          polar_index** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_index_destroy(polar_index* index);

/* Learns what the index needs from n ≥ 1 rows, (n, dim), forgetting what it learned before. An
 * inverted file needs a row for each list, better 39; a product quantizer as many for each of its
 * 2^bits centroids; POLAR_ERROR_BAD_ARGUMENT for fewer. POLAR_ERROR_STATE_MISMATCH once it holds
 * rows, but for those that one of our specs alone still keeps as floats (polar_index_add), which
 * are coded then. since 0.1 */
POLAR_API polar_status polar_index_train(polar_index* index, int64_t n, const float* x);
/* Adds n ≥ 0 rows, (n, dim), with ids ntotal, ntotal + 1, … A row that is refused leaves the index
 * as it was; so does a lack of memory, but for the process's end where FAISS meets it in a parallel
 * loop of its own: in packed lists ("IVF4,PQ4x4fs"), in product quantizers whose parts have 16
 * dimensions and more, in graphs as coarse quantizers.
 * An index of one of our specs, alone or in containers and graphs, that was not trained keeps its
 * rows as floats, and searches them exactly, until they are 1,000: from these, and from all others
 * of the add or merge that brings them there, it learns its codes' centre and unit, and codes them.
 * So recall does not depend on the pieces in which rows come. since 0.1 */
POLAR_API polar_status polar_index_add(polar_index* index, int64_t n, const float* x);
/* Adds n ≥ 0 rows with ids of the caller's, (n), each ≥ 0 and not in the index yet. An index takes
 * rows with ids or rows without, not both. POLAR_ERROR_UNSUPPORTED for a FAISS index that takes
 * none; ",IDMap2" behind its description gives it ids. since 0.1 */
POLAR_API polar_status polar_index_add_with_ids(polar_index* index, int64_t n, const float* x,
                                                const int64_t* ids);
/*
 * The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k), best first, ties as
 * FAISS leaves them, by lower row in an index that is one of our specs alone; id −1 with score −inf
 * (inner product, cosine) or +inf (L2) where there are fewer. k ≥ 1. num_threads: 0 to 1024.
 * since 0.1
 */
POLAR_API polar_status polar_index_search(const polar_index* index, int64_t nq,
                                          const float* queries, int64_t k, int32_t num_threads,
                                          float* scores, int64_t* ids);
/* The same with options, NULL for the defaults. POLAR_ERROR_UNSUPPORTED, naming the option, for one
 * that the index has no use for, and for a filter of the few FAISS indexes whose rows are neither
 * filtered by FAISS nor scored one by one. since 0.1 */
POLAR_API polar_status polar_index_search_with_options(const polar_index* index, int64_t nq,
                                                       const float* queries, int64_t k,
                                                       const polar_search_options* options,
                                                       float* scores, int64_t* ids);
typedef struct polar_index_info {
  uint32_t struct_size; /* set by the caller to sizeof(polar_index_info) before the call */
  int32_t dim;          /* dimensions of a vector */
  polar_metric metric;  /* POLAR_METRIC_… */
  int32_t is_trained;   /* 1 when rows can be added, 0 when train must come first */
  int64_t ntotal;       /* rows held */
} polar_index_info;

/* Fills *info up to its struct_size; what the library does not know becomes 0. since 0.1 */
POLAR_API polar_status polar_index_get_info(const polar_index* index, polar_index_info* info);
/* Copies the description, as polar_last_error copies its text; 0 for a NULL index. since 0.1 */
POLAR_API size_t polar_index_description(const polar_index* index, char* buf, size_t cap);
/*
 * Tells what polar_index_search_with_options would do for nq queries, 1 to 2^40, k ≥ 1 and these
 * options, NULL for the defaults: how it scans, rows, stages, and about how many bytes it reads.
 * Nothing is searched. Lines of text for people, "scan: …" and so on; their words may change.
 * Copied as polar_last_error copies its text; *needed becomes the whole text's length. Errors as
 * those of the search. since 0.1
 */
POLAR_API polar_status polar_index_explain(const polar_index* index, int64_t nq, int64_t k,
                                           const polar_search_options* options, char* buf,
                                           size_t cap, size_t* needed);
/*
 * All rows within a radius of each of nq ≥ 0 queries, (nq, dim): score > radius (inner product,
 * cosine) or squared distance < radius (L2). lims, (nq + 1): rows lims[q] … lims[q+1] − 1 are those
 * of query q, best first, ties by lower row, where one of our specs finds them, in FAISS's order
 * else. scores and ids, (capacity): the rows below capacity, of all queries together, are written;
 * lims always tells how many there are. Two calls, the first with capacity 0 (scores and ids may
 * then be NULL), get all of them, at the cost of two searches.
 * options: NULL for the defaults. At finite exactness a few rows near the radius are left out; +inf
 * finds every row. POLAR_ERROR_UNSUPPORTED for an index without range search (graphs, refinements,
 * scalar and product quantizers of FAISS's). Memory: 16 bytes a row found, besides; filters of
 * FAISS's own indexes are applied to what is found without. since 0.1
 */
POLAR_API polar_status polar_index_range_search(const polar_index* index, int64_t nq,
                                                const float* queries, float radius,
                                                const polar_search_options* options,
                                                int64_t capacity, int64_t* lims, float* scores,
                                                int64_t* ids);

/*
 * Changes of rows held. As every call on a handle that is not const, they need sole use of it: no
 * search may run meanwhile.
 */

/* Removes the rows with these ids, (n), in any order; ids that are not held are passed over.
 * *removed, unless NULL: rows that went. The others keep their order. Rows without ids of the
 * caller's are numbered anew, from 0; where an index cannot do that (inverted files, id maps), and
 * where it cannot remove at all (graphs, refinements), POLAR_ERROR_UNSUPPORTED. since 0.1 */
POLAR_API polar_status polar_index_remove(polar_index* index, int64_t n, const int64_t* ids,
                                          int64_t* removed);
/* The same for the rows that a search with this filter would find among: options->filter must not
 * be POLAR_FILTER_NONE; other options are not read. since 0.1 */
POLAR_API polar_status polar_index_remove_filtered(polar_index* index,
                                                   const polar_search_options* options,
                                                   int64_t* removed);
/* Codes x, (n, dim), in the place of the rows with these ids, (n); of equal ids the last counts.
 * POLAR_ERROR_NOT_FOUND when an id is not in the index; POLAR_ERROR_UNSUPPORTED unless the index is
 * one of our specs, also behind vector transforms and in id maps. since 0.1 */
POLAR_API polar_status polar_index_update(polar_index* index, int64_t n, const int64_t* ids,
                                          const float* x);
/* Moves all rows of `other` behind those of `index`; `other` is empty afterwards and stays usable.
 * Ids of the caller's stay and must differ, other rows are numbered on. Both must be made and
 * trained alike: POLAR_ERROR_STATE_MISMATCH, with the part that differs, when their codes do not
 * mix (train before sharding, or give all shards one state). Rows that `other` keeps as floats are
 * added; an index of our specs that learned nothing yet takes over what the codes of `other` are
 * made by, and codes by it what it holds. POLAR_ERROR_UNSUPPORTED for kinds whose rows cannot be
 * moved: graphs, refinements, FAISS's packed lists. An error leaves both as they were. since 0.1 */
POLAR_API polar_status polar_index_merge(polar_index* index, polar_index* other);

/* Inverted files, "IVF1024,Polar4" and FAISS's own, also behind transforms and in id maps. */

/* Lists of the inverted file. 0 for an index that is none, and for NULL. since 0.1 */
POLAR_API int64_t polar_index_nlist(const polar_index* index);
/* Lists that a search looks through for each query where its options' nprobe is 0: 1 in a new
 * index, as FAISS has it. Files keep it. 0 for an index that is no inverted file, and for NULL.
 * since 0.1 */
POLAR_API int64_t polar_index_nprobe(const polar_index* index);
/* nprobe: 1 or more; beyond the lists there are, all are searched. Training keeps it.
 * POLAR_ERROR_UNSUPPORTED for an index that is no inverted file. since 0.1 */
POLAR_API polar_status polar_index_set_nprobe(polar_index* index, int64_t nprobe);
/*
 * polar_index_train with lists that were made elsewhere: centroids, (nlist, dim), become the lists'
 * in this order, taken as they are, and the code is trained on the n ≥ 1 rows x, (n, dim). nlist:
 * that of the index. For inverted files of our specs alone, whose coarse quantizer takes centroids
 * ("IVF1024,Polar4", "IVF1024_HNSW32,Polar2"); POLAR_ERROR_UNSUPPORTED for others.
 * POLAR_ERROR_STATE_MISMATCH once the index holds rows. since 0.1
 */
POLAR_API polar_status polar_index_train_with_centroids(polar_index* index, int64_t nlist,
                                                        const float* centroids, int64_t n,
                                                        const float* x);
/*
 * polar_index_add_with_ids into lists of the caller's choice, lists (n), each 0 to nlist − 1, in
 * the place of those whose centroids are nearest. For the indexes of
 * polar_index_train_with_centroids. since 0.1
 */
POLAR_API polar_status polar_index_add_to_lists(polar_index* index, int64_t n, const float* x,
                                                const int64_t* ids, const int64_t* lists);

/* Rows held. 0 for NULL. since 0.1 */
POLAR_API int64_t polar_index_ntotal(const polar_index* index);
/* 1 when rows can be added, 0 when train must come first or index is NULL. since 0.1 */
POLAR_API int32_t polar_index_is_trained(const polar_index* index);
/* Bytes of one stored row's code, in all parts of the index, without ids and graph links.
 * POLAR_ERROR_UNSUPPORTED where rows share codes or FAISS does not tell. since 0.1 */
POLAR_API polar_status polar_index_code_size(const polar_index* index, size_t* bytes);
/* x, (dim): the reconstruction of the row with this id, of its normalized form for cosine;
 * POLAR_ERROR_NOT_FOUND for none, POLAR_ERROR_UNSUPPORTED for an index that keeps no way back from
 * id to row ("IDMap,…" where "IDMap2,…" does). since 0.1 */
POLAR_API polar_status polar_index_reconstruct(const polar_index* index, int64_t id, float* x);

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

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_load_options_init(polar_load_options* options);

typedef struct polar_save_options {
  uint32_t struct_size; /* sizeof(polar_save_options), set by polar_save_options_init */
  /* 1: the whole file is read back before it takes its name, and refused with
   * POLAR_ERROR_CORRUPT_DATA, what was there left as it was, unless it makes an index of as many
   * rows. The index is in memory twice meanwhile. Default 0. */
  int32_t verify;
} polar_save_options;

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_save_options_init(polar_save_options* options);

/*
 * Writes the index to a file (docs/format.md): rows, ids, what was trained, parameters. The file
 * appears whole or not at all: it is written beside its place, synced and renamed, so that after a
 * failure, a full disk or a crash a file of that name is as it was. One failure alone comes behind
 * the rename: where the folder cannot be synced, the new file is in place, a crash of the system
 * may still undo that, and the error's text says so. A symbolic link stays, and what it names is
 * made or replaced. Of threads or processes that save to one path at the same time each writes a
 * whole file, and the last one's stays. A process that is killed can leave a file ".polar-" with 16
 * hexadecimal digits in the folder. POLAR_ERROR_IO: the system refused; POLAR_ERROR_UNSUPPORTED:
 * FAISS cannot write the index. Cost: every byte is read twice, first for its checksum. since 0.1
 */
POLAR_API polar_status polar_index_save(const polar_index* index, const char* path);
/* The same. options: NULL for the defaults. since 0.1 */
POLAR_API polar_status polar_index_save_with_options(const polar_index* index, const char* path,
                                                     const polar_save_options* options);
/* The same bytes by calls of `write`, front to back. since 0.1 */
POLAR_API polar_status polar_index_save_to(const polar_index* index, polar_write_fn write,
                                           void* user);
/*
 * The index of a file of polar_index_save. Nothing in the file is trusted: whatever it says, it
 * gives a working index or a status and a text that says what is wrong: POLAR_ERROR_CORRUPT_DATA,
 * POLAR_ERROR_NEWER_FORMAT, POLAR_ERROR_UNSUPPORTED, POLAR_ERROR_IO. Memory stays within what the
 * file's size and the codec of its names take. options: NULL for the defaults. since 0.1
 */
POLAR_API polar_status polar_index_load(const char* path, const polar_load_options* options,
                                        polar_index** out);
/* The same by calls of `read`, front to back; no byte behind the index is read. since 0.1 */
POLAR_API polar_status polar_index_load_from(polar_read_fn read, void* user,
                                             const polar_load_options* options, polar_index** out);
/* Reads all that a memory-mapped index has in its file: POLAR_ERROR_CORRUPT_DATA unless it is what
 * was saved. POLAR_OK at once for other indexes, which were verified when they were loaded.
 * since 0.1 */
POLAR_API polar_status polar_index_verify(const polar_index* index);
/* *out: an index like this one, in memory, which can be changed. In memory twice meanwhile.
 * since 0.1 */
POLAR_API polar_status polar_index_clone(const polar_index* index, polar_index** out);
/* Memory that the index takes: codes, ids, what was trained; what lies in a mapped file is not
 * counted. FAISS's parts are counted by what they would be saved as. since 0.1 */
POLAR_API polar_status polar_index_memory_bytes(const polar_index* index, size_t* bytes);

/* ---- CUDA ----------------------------------------------------------------------------------- */

/*
 * Searches on NVIDIA GPUs. The work is done by libpolarquant_cuda, which is loaded when one of
 * these calls first needs it: from the path in the environment's POLARQUANT_CUDA_LIBRARY, else from
 * beside this library, else from where the system looks. Without it, and without a device, these
 * calls return POLAR_ERROR_UNSUPPORTED with a text that says which; what the CUDA runtime reports
 * is POLAR_ERROR_CUDA or POLAR_ERROR_OUT_OF_MEMORY. The current device of the calling thread is as
 * before after every call.
 */

/* *count: devices, 1 or more. since 0.1 */
POLAR_API polar_status polar_cuda_device_count(int32_t* count);

typedef struct polar_cuda_device_info {
  uint32_t struct_size;    /* set by the caller to sizeof(polar_cuda_device_info) before the call */
  int32_t compute_major;   /* compute capability, as 9.0 */
  int32_t compute_minor;   /* its second number */
  int32_t multiprocessors; /* of the device */
  uint64_t total_bytes;    /* of its memory */
  uint64_t free_bytes;     /* of these, not in use now, by anyone */
  char name[256];          /* closed by 0 */
} polar_cuda_device_info;

/* Fills *info up to its struct_size. device: 0 to count − 1. since 0.1 */
POLAR_API polar_status polar_cuda_get_device_info(int32_t device, polar_cuda_device_info* info);

/* Codes of an index in the memory of a device, or of several, to be searched there. Immutable. */
typedef struct polar_cuda_index polar_cuda_index;

/* What each of several devices has of an index. */
typedef int32_t polar_cuda_layout;
#define POLAR_CUDA_SHARDED 0    /* a part of the rows; it searches these for every query */
#define POLAR_CUDA_REPLICATED 1 /* all rows; it searches them for a part of the queries */

typedef struct polar_cuda_options {
  uint32_t struct_size; /* sizeof(polar_cuda_options), set by polar_cuda_options_init */
  int32_t device;       /* 0 (default) to the number of devices − 1; read when num_devices is 0 */
  /* (num_devices), for indexes on several devices, each 0 to the number of devices − 1. Shards are
   * in this order: contiguous rows, as equally many as whole blocks of 64 allow. A device that is
   * listed n times is given n shards, or n copies of all rows, as if it were n devices. Where there
   * are fewer blocks than devices, the first ones alone have rows. NULL (default): `device`. */
  const int32_t* devices;
  int32_t num_devices;      /* 0 (default) to 64; 0 for encoders and codecs */
  polar_cuda_layout layout; /* POLAR_CUDA_…; default sharded; the same for one device */
} polar_cuda_options;

/* Fills *options with the defaults. NULL is ignored. since 0.1 */
POLAR_API void polar_cuda_options_init(polar_cuda_options* options);

/*
 * Copies an index to a device, or to several: its blocks as they are, its codec, its ids. The index
 * may change, or go, afterwards; the copy does not. For indexes that are one of our specs alone,
 * "Polar0.5" to "Polar8" and residual codes, and for inverted files of these that find lists by all
 * their centroids ("IVF1024,Polar4"); POLAR_ERROR_UNSUPPORTED for the others, trained codes
 * ("…-pca") among them. A part of the rows of an inverted file is a part of its lists, about equal
 * in rows. Rows that the index keeps as floats (polar_index_add) are coded for the copy, by what
 * they teach. options: NULL for the defaults. Cost: the codes' bytes over the bus, to several
 * devices at the same time; 8 bytes a row stay in host memory for ids. Waits for the devices. since
 * 0.1
 */
POLAR_API polar_status polar_cuda_index_from_index(const polar_index* index,
                                                   const polar_cuda_options* options,
                                                   polar_cuda_index** out);
/* The same from n ≥ 0 codes of the caller's; codes_bytes as for polar_codec_encode. Rows have their
 * positions as ids. Packs the codes into blocks first, so that they are in memory twice meanwhile.
 * since 0.1 */
POLAR_API polar_status polar_cuda_index_from_codes(const polar_codec* codec, int64_t n,
                                                   const uint8_t* codes, size_t codes_bytes,
                                                   const polar_cuda_options* options,
                                                   polar_cuda_index** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_cuda_index_destroy(polar_cuda_index* index);

/*
 * The k nearest of each of nq ≥ 0 queries, (nq, dim): scores and ids, (nq, k), all in host memory;
 * the same rows and scores, to the bit, as polar_blocks_search and polar_index_search_with_options
 * give with these options (docs/cuda.md says when an inverted file's lists may be others). k ≥ 1.
 * options: NULL for the defaults; nprobe 0 is what polar_index_nprobe was of the index when it was
 * copied, ef_search and k_factor are to be 0, and so is nprobe unless it was an inverted file: else
 * POLAR_ERROR_UNSUPPORTED. Every filter works, as a bitset that the host makes of it; num_threads
 * is for preparing queries, and for what the host does with results; progress is not called.
 * stream: a cudaStream_t of the index's device, NULL for the default stream. All work is put on it,
 * and it is waited for before the call returns. An index with more than one in options.devices
 * takes NULL alone: each device works on its own default stream, and waits in a thread of its own.
 * Memory to work in is kept by the index for the next search: a search like one before on the same
 * device allocates none there. Failures of a device name it. since 0.1
 */
POLAR_API polar_status polar_cuda_index_search(const polar_cuda_index* index, int64_t nq,
                                               const float* queries, int64_t k,
                                               const polar_search_options* options, void* stream,
                                               float* scores, int64_t* ids);
/* Rows held. 0 for NULL. since 0.1 */
POLAR_API int64_t polar_cuda_index_ntotal(const polar_cuda_index* index);
/* Bytes of device memory, of all its devices: codes, tables, and what searches keep to work in. 0
 * for NULL. since 0.1 */
POLAR_API size_t polar_cuda_index_memory_bytes(const polar_cuda_index* index);

/* A codec in a device's memory, to encode there. Immutable. */
typedef struct polar_cuda_encoder polar_cuda_encoder;

/*
 * Copies what encoding needs of a trained codec to a device; the codec may change, or go,
 * afterwards. For "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by default
 * or with "-norot"; POLAR_ERROR_UNSUPPORTED for the others, and for rows too long for the device
 * (some 13,000 dimensions). options: NULL for the defaults. since 0.1
 */
POLAR_API polar_status polar_cuda_encoder_create(const polar_codec* codec,
                                                 const polar_cuda_options* options,
                                                 polar_cuda_encoder** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_cuda_encoder_destroy(polar_cuda_encoder* encoder);
/*
 * Codes n ≥ 0 rows x, (n, dim), into codes, codes_bytes = n·code_bytes: the bytes of
 * polar_codec_encode. x and codes are each in host memory or in the device's. A row that
 * polar_codec_encode refuses is refused by number; codes then hold nothing of use. stream as for
 * polar_cuda_index_search; memory to work in is kept by the encoder. Calls may run together.
 * since 0.1
 */
POLAR_API polar_status polar_cuda_encoder_encode(const polar_cuda_encoder* encoder, int64_t n,
                                                 const float* x, uint8_t* codes, size_t codes_bytes,
                                                 void* stream);

/* A codec in a device's memory, to score and combine codes there. Immutable. */
typedef struct polar_cuda_codec polar_cuda_codec;

/*
 * Copies what decoding needs of a trained codec to a device; the codec may change, or go,
 * afterwards. For every codec but PolarScalar by L2 where dim is no multiple of 128:
 * POLAR_ERROR_UNSUPPORTED. options: NULL for the defaults. since 0.1
 */
POLAR_API polar_status polar_cuda_codec_create(const polar_codec* codec,
                                               const polar_cuda_options* options,
                                               polar_cuda_codec** out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_cuda_codec_destroy(polar_cuda_codec* codec);
/*
 * scores, (heads, nq, n): polar_codec_score of the n rows of each head, as the heads of attention
 * have their keys, for the nq queries of that head, (heads, nq, dim). heads and nq 0 to 65535.
 * codes: those of the heads one behind the other, heads·polar_codec_encoded_bytes(n) bytes. Codes
 * and scores are each in host memory or in the device's, queries in host memory. The sums are
 * those of the CPU in another order, so that scores differ by the rounding of floats; they are the
 * same from call to call. stream as for polar_cuda_index_search; memory to work in is kept by the
 * codec. Calls may run together. since 0.1
 */
POLAR_API polar_status polar_cuda_codec_score(const polar_cuda_codec* codec, int64_t heads,
                                              int64_t nq, const float* queries, int64_t n,
                                              const uint8_t* codes, size_t codes_bytes,
                                              void* stream, float* scores);
/*
 * out, (heads, nw, dim): polar_codec_combine of the n rows of each head, as the heads of attention
 * have their values, by nw vectors of weights, (heads, nw, n). heads and nw 0 to 65535; codes,
 * stream, memory and threads as for polar_cuda_codec_score. Weights and codes are each in host
 * memory or in the device's, out in host memory. Sums of up to 1,024 rows are floats, those of
 * these are doubles. Weights that are not finite, or whose sums are not, are refused; out is then
 * as it was. since 0.1
 */
POLAR_API polar_status polar_cuda_codec_combine(const polar_cuda_codec* codec, int64_t heads,
                                                int64_t nw, const float* weights, int64_t n,
                                                const uint8_t* codes, size_t codes_bytes,
                                                void* stream, float* out);

#ifdef __cplusplus
}
#endif

#endif
