/* SPDX-License-Identifier: MIT */
/* Codecs: vectors to codes that the caller stores, and scores of such codes. polarquant.h has the
 * rules for every function. */
#ifndef POLARQUANT_CODEC_H
#define POLARQUANT_CODEC_H

#include "polarquant/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Codec ---------------------------------------------------------------------------------- */

/* Turns vectors into codes and scores codes. Immutable but for train. */
typedef struct polar_codec polar_codec;

typedef struct polar_codec_options {
  uint32_t struct_size; /* sizeof(polar_codec_options), set by polar_codec_options_init */
  int32_t learn_centre; /* 0 or 1 (default): train may set the centre to the rows' mean */
  uint64_t seed;        /* of the random rotation; any value, default 1 */
  const float* centre;  /* (dim), or NULL (default): learned when learn_centre, else 0 */
  double norm_unit;     /* typical ‖x−centre‖, 2^-40 to 2^40; default 0: learned, 1 before */
} polar_codec_options;

/* As polar_codec_options_init, which calls it; struct_size: the caller's sizeof. */
POLAR_API void polar_codec_options_init_sized(polar_codec_options* options, size_t struct_size);

/* Fills *options with the defaults. NULL is ignored. */
static inline void polar_codec_options_init(polar_codec_options* options) {
  polar_codec_options_init_sized(options, sizeof *options);
}

/*
 * Makes a codec. spec: "Polar2", "Polar4+2-dense", "PolarTree4.2.2.2", "PolarPair4x4",
 * "PolarScalar4", …: docs/codec.md lists all, polar_spec_help() prints them. dim: 1 to 65535.
 * options: NULL for the defaults. *out is NULL after a failure.
 * Cost: O(dim) time and memory; a "-dense" rotation takes O(dim²).
 */
POLAR_API polar_status polar_codec_create(const char* spec, int32_t dim, polar_metric metric,
                                          const polar_codec_options* options, polar_codec** out);
/* NULL is fine. */
POLAR_API void polar_codec_destroy(polar_codec* codec);

/*
 * Copies a text that lists every spec's form, meaning and an example, as polar_last_error
 * copies its text.
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

/* Fills *info up to its struct_size; what the library does not know becomes 0. */
POLAR_API polar_status polar_codec_get_info(const polar_codec* codec, polar_codec_info* info);
/* Copies the canonical spec, as polar_last_error copies its text; 0 for a NULL codec. */
POLAR_API size_t polar_codec_spec(const polar_codec* codec, char* buf, size_t cap);
/* Copies the centre, (dim), zeros when there is none. */
POLAR_API polar_status polar_codec_get_centre(const polar_codec* codec, float* centre);
/* *bytes: memory held by the codec: rotation, tables, centre. */
POLAR_API polar_status polar_codec_memory_bytes(const polar_codec* codec, size_t* bytes);

/*
 * Learns the centre, the unit and, where the codec has them, codebooks from n ≥ 1 rows x, (n, dim),
 * a sample of what will be encoded. The centre is the mean, and the unit a power of two near the
 * root mean square of ‖x−centre‖, of the typical rows: those up to eight times as far from it as
 * nine of ten are, nearly always all, so that a few rows of another scale decide nothing. Where the
 * mean would be further from the middle row than 0 is, the centre stays 0. What is learned decides
 * how well rows are coded, never whether they can be (polar_codec_encode). A codec that is not
 * trained has the centre and unit that it was created with, 0 and 1 by default.
 * Optional for most codecs, required for PolarPairMxN, PolarTree…-online, …-pca and PolarB…. These
 * two learn their rotation and plan, too: from n ≥ 2·dim rows, better 10·dim, in O(n·dim² + dim³),
 * and, of 512 rows and more, how far searches' estimates are off. …-kmK learns K centroids in the
 * place of a centre, from at least 2 rows for each besides a tenth of all, better 10, in
 * O(n·K·dim). A row that is not finite, or longer than 2^61 (2.3e18) but for cosine, is refused by
 * number, and nothing is learned. POLAR_ERROR_STATE_MISMATCH once this codec has encoded anything.
 * options: NULL for the defaults, here and below. Needs sole use.
 */
POLAR_API polar_status polar_codec_train(polar_codec* codec, int64_t n, const float* x,
                                         const polar_work_options* options);

/* A segment of the plan of a …-pca or PolarB… codec: rotated coordinates that have one rate. Of the
 * last one with bits of PolarB… only its first coordinates may have them. */
typedef struct polar_segment {
  int32_t first; /* its first coordinate; segments in order, by falling variance */
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
  double untrained_error; /* the same of the untrained codec; 0 of PolarB…, which has none */
} polar_codec_plan;

/*
 * Fills *plan, and the first min(cap, plan->segments) of segments, which may be NULL when cap is 0.
 * POLAR_ERROR_UNSUPPORTED unless the codec is …-pca or PolarB…; POLAR_ERROR_NOT_TRAINED before
 * train.
 */
POLAR_API polar_status polar_codec_get_plan(const polar_codec* codec, polar_codec_plan* plan,
                                            polar_segment* segments, int64_t cap);

/*
 * How well a …-pca or PolarB… codec still fits: *drift becomes the error of n ≥ 1 rows x, (n, dim),
 * divided by the error of the rows that training held out. Near 1: as well as then; above 1.2 or so
 * it is time to train a new codec. Errors as polar_codec_get_plan. Cost: that of encoding.
 */
POLAR_API polar_status polar_codec_drift(const polar_codec* codec, int64_t n, const float* x,
                                         const polar_work_options* options, double* drift);

/*
 * Bytes of n ≥ 0 encoded rows: n·code_bytes, or for group_rows > 1:
 * ⌊n/group_rows⌋·code_bytes + (n mod group_rows)·tail_row_bytes.
 */
POLAR_API polar_status polar_codec_encoded_bytes(const polar_codec* codec, int64_t n,
                                                 size_t* bytes);

/*
 * Codes n ≥ 0 rows x, (n, dim), into codes; codes_bytes must be polar_codec_encoded_bytes(n). The
 * bytes are the same on every machine and are laid out as docs/format.md says. Every finite row is
 * coded at any time, whatever the codec was trained on: those nearer to the centre than 2^-61 units
 * as the centre itself, and only those further away than 2^61 or than 2^61 units, which scores in
 * floats could not hold, are refused by number. (A state that a library before format 4 wrote has
 * factors of less range: 2^-13 and 2^14 units.) Cost: O(n·dim·256).
 */
POLAR_API polar_status polar_codec_encode(const polar_codec* codec, int64_t n, const float* x,
                                          const polar_work_options* options, uint8_t* codes,
                                          size_t codes_bytes);

typedef int32_t polar_reconstruction;
#define POLAR_RECONSTRUCTION_LEAST_ERROR 0 /* centre + s(1−D)·Rᵀû: nearest to x on average */
#define POLAR_RECONSTRUCTION_UNBIASED 1    /* centre + s·Rᵀû: inner products unbiased */

/* Decodes all n rows of codes into x, (n, dim). codes_bytes as for encode. */
POLAR_API polar_status polar_codec_decode(const polar_codec* codec, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, polar_reconstruction kind,
                                          const polar_work_options* options, float* x);

/* ---- Scores over codes the caller owns ------------------------------------------------------ */

/* A query prepared for one codec: rotated and centred once, scored many times. Immutable. */
typedef struct polar_query polar_query;

/* q: (dim). Cost O(dim log dim), O(dim²) for "-dense". */
POLAR_API polar_status polar_query_prepare(const polar_codec* codec, const float* q,
                                           polar_query** out);
/* The query is the vector of row `row` of n coded rows, 0 ≤ row < n. */
POLAR_API polar_status polar_query_prepare_from_code(const polar_codec* codec, int64_t n,
                                                     const uint8_t* codes, size_t codes_bytes,
                                                     int64_t row, polar_query** out);
/* NULL is fine. */
POLAR_API void polar_query_destroy(polar_query* query);

/*
 * scores, (n): estimate for each row by the codec's metric: ⟨q,x⟩, cosine, or ‖q−x‖² (an estimate,
 * so it can be slightly below 0). POLAR_ERROR_STATE_MISMATCH for a query of another codec state.
 */
POLAR_API polar_status polar_codec_score(const polar_codec* codec, const polar_query* query,
                                         int64_t n, const uint8_t* codes, size_t codes_bytes,
                                         const polar_work_options* options, float* scores);

/*
 * The k best of n coded rows for each of nq queries, (nq, dim): scores and ids, both (nq, k), best
 * first, ties by lower id; ids are row positions, of the filter too. Where n < k, id −1 with score
 * −inf (inner product, cosine) or +inf (L2). k ≥ 1. The result does not depend on the number of
 * threads. The flagship's rows, residual codes and Polar8 are ranked by integer scores, within 1 %
 * of the codes' own error of polar_codec_score; docs/search.md says which rows are left out.
 */
POLAR_API polar_status polar_codec_search(const polar_codec* codec, int64_t nq,
                                          const float* queries, int64_t n, const uint8_t* codes,
                                          size_t codes_bytes, int64_t k,
                                          const polar_search_options* options, float* scores,
                                          int64_t* ids);

/*
 * All of n coded rows within a radius of each of nq queries, (nq, dim): score > radius (inner
 * product, cosine) or squared distance < radius (L2), by polar_codec_score. lims, (nq + 1): rows
 * lims[q] … lims[q+1] − 1 are those of query q, best first, ties by lower id; ids are row
 * positions. scores and ids, (capacity): the rows below capacity, of all queries together, are
 * written; lims always tells how many there are. Two calls, the first with capacity 0 (scores and
 * ids may then be NULL), get all of them, at the cost of two searches. At finite exactness a few
 * rows near the radius are left out; +inf finds every row. Memory: 12 bytes a row found, besides.
 */
POLAR_API polar_status polar_codec_range_search(const polar_codec* codec, int64_t nq,
                                                const float* queries, int64_t n,
                                                const uint8_t* codes, size_t codes_bytes,
                                                float radius, const polar_search_options* options,
                                                int64_t capacity, int64_t* lims, float* scores,
                                                int64_t* ids);

/*
 * scores, (na, nb): estimates between every row of a and every row of b, from codes alone;
 * symmetric. L2 estimates can be below 0, most of all of a row to itself.
 */
POLAR_API polar_status polar_codec_score_codes(const polar_codec* codec, int64_t na,
                                               const uint8_t* codes_a, size_t codes_a_bytes,
                                               int64_t nb, const uint8_t* codes_b,
                                               size_t codes_b_bytes,
                                               const polar_work_options* options, float* scores);

/*
 * out, (nw, dim): Σ_i weights[w,i]·x̂_i over n rows for each of nw weight vectors, (nw, n), finite;
 * x̂ is the reconstruction of least error. Rows are decoded one at a time.
 */
POLAR_API polar_status polar_codec_combine(const polar_codec* codec, int64_t n,
                                           const uint8_t* codes, size_t codes_bytes, int64_t nw,
                                           const float* weights, const polar_work_options* options,
                                           float* out);

/* ---- Codec state ---------------------------------------------------------------------------- */

/*
 * Writes everything that decides the bytes of codes. *needed becomes the size; when buf is NULL or
 * cap is smaller, nothing is written (POLAR_OK for a NULL buf, POLAR_ERROR_BAD_ARGUMENT for a small
 * one). Format: docs/format.md.
 */
POLAR_API polar_status polar_codec_save_state(const polar_codec* codec, uint8_t* buf, size_t cap,
                                              size_t* needed);
/* A codec with that state. Damaged bytes are refused. */
POLAR_API polar_status polar_codec_load_state(const uint8_t* data, size_t bytes, polar_codec** out);
/* POLAR_OK when codes of a and b mix, else POLAR_ERROR_STATE_MISMATCH; the text names what differs.
 */
POLAR_API polar_status polar_codec_check_same_state(const polar_codec* a, const polar_codec* b);

#ifdef __cplusplus
}
#endif

#endif
