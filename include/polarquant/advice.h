/* SPDX-License-Identifier: MIT */
/* Which code to take. polarquant.h has the rules for every function. */
#ifndef POLARQUANT_ADVICE_H
#define POLARQUANT_ADVICE_H

#include "polarquant/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  /* (num_specs) specs to measure, as polar_codec_create takes them; by default, NULL,
   * those of 0.5 to 8 bits a dimension that a user would choose among, with and without "-pca",
   * and with allowed_bytes of 64 or less PolarB… of up to these bytes. The
   * untrained code of each "-pca" is measured too. */
  const char* const* specs;
  int64_t num_specs;
  /* As polar_search_options's. Training one code is not interrupted. */
  polar_progress_fn progress;
  void* progress_user;
} polar_advice_options;

/* As polar_advice_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_advice_options_init_sized(polar_advice_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_advice_options_init(polar_advice_options* options) {
  polar_advice_options_init_sized(options, sizeof *options);
}

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
 * row. POLAR_ERROR_BAD_ARGUMENT for too few rows, numbers that are not finite, wrong specs;
 * POLAR_ERROR_CANCELLED. *out is NULL after a failure.
 * Cost: for each code a training, max_rows encoded and max_queries searched for: a
 * minute on two cores for 384 dimensions by the defaults, three for 1,536; training grows with
 * dim³. Memory: the drawn rows as floats, and one code's rows.
 */
POLAR_API polar_status polar_advice_create(int32_t dim, polar_metric metric, int64_t n,
                                           const float* x, int64_t nq, const float* queries,
                                           const polar_advice_options* options, polar_advice** out);
/* NULL is fine. */
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

/* Fills *info up to its struct_size; what the library does not know becomes 0. */
POLAR_API polar_status polar_advice_get_info(const polar_advice* advice, polar_advice_info* info);

/* One code on the sample. */
typedef struct polar_advice_row {
  uint32_t struct_size;    /* set by the caller to sizeof(polar_advice_row) before the call */
  int32_t needs_training;  /* 1: polar_codec_train must come before encode */
  const char* spec;        /* valid as long as the advice */
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

/* Fills *filled with row `row`, 0 ≤ row < rows, by rising bytes for the default codes. */
POLAR_API polar_status polar_advice_get_row(const polar_advice* advice, int64_t row,
                                            polar_advice_row* filled);

#ifdef __cplusplus
}
#endif

#endif
