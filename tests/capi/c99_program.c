/* SPDX-License-Identifier: MIT */
/*
 * The C ABI as a C99 program sees it: the header alone, twice, and every kind of call once, with
 * its result checked. Exits with 1 and a line per mismatch. An index is made where the library has
 * FAISS.
 */
#include "polarquant/polarquant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDim = 64, kRows = 200, kK = 5 };

static int failures = 0;

static void check(int holds, const char* what, int line) {
  char text[256];
  if (holds) return;
  polar_last_error(text, sizeof text);
  printf("line %d: %s does not hold; last error: \"%s\"\n", line, what, text);
  ++failures;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define CHECK_OK(call) check((call) == POLAR_OK, #call, __LINE__)

/* Roughly normal numbers: sums of four uniform ones, from a linear congruential generator. */
static float next_float(uint32_t* state) {
  float sum = 0;
  int i;
  for (i = 0; i < 4; ++i) {
    *state = *state * 1664525u + 1013904223u;
    sum += (float)(*state >> 8) / 16777216.0f - 0.5f;
  }
  return sum;
}

static double dot(const float* a, const float* b) {
  double sum = 0;
  int i;
  for (i = 0; i < kDim; ++i) sum += (double)a[i] * b[i];
  return sum;
}

static double distance(const float* a, const float* b) {
  double sum = 0;
  int i;
  for (i = 0; i < kDim; ++i) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
  return sum;
}

static void fill(float* x, int64_t rows, uint32_t seed) {
  int64_t i;
  for (i = 0; i < rows * kDim; ++i) x[i] = next_float(&seed);
}

static void check_texts(void) {
  char text[8];
  char* help;
  size_t length;
  CHECK(polar_version() ==
        POLAR_VERSION_MAJOR * 10000 + POLAR_VERSION_MINOR * 100 + POLAR_VERSION_PATCH);
  CHECK(strchr(polar_version_string(), '.') != NULL);
  CHECK(strcmp(polar_status_name(POLAR_ERROR_NOT_TRAINED), "not trained") == 0);
  CHECK(polar_last_error(NULL, 0) == 0);
  CHECK(polar_last_error(text, sizeof text) == 0 && text[0] == 0);
  length = polar_spec_help(NULL, 0);
  help = malloc(length + 1);
  CHECK(polar_spec_help(help, length + 1) == length && strlen(help) == length);
  CHECK(strstr(help, "Polar2") != NULL);
  free(help);
}

static void check_scores(const polar_codec* codec, const float* x, const uint8_t* codes,
                         size_t codes_bytes) {
  const float* q = x + 7 * kDim;
  float scores[kRows], best_scores[kK], pair_score;
  int64_t best_ids[kK];
  polar_query* query = NULL;
  polar_query* coded_query = NULL;
  polar_codec_info info;
  int i;
  info.struct_size = sizeof info;
  CHECK_OK(polar_codec_get_info(codec, &info));
  CHECK_OK(polar_query_prepare(codec, q, &query));
  CHECK_OK(polar_codec_score(codec, query, kRows, codes, codes_bytes, NULL, scores));
  for (i = 0; i < kRows; ++i) {
    const double exact = dot(q, x + i * kDim);
    CHECK(fabs(scores[i] - exact) < 0.05 * sqrt(dot(q, q) * dot(x + i * kDim, x + i * kDim)));
  }
  CHECK_OK(
      polar_codec_search(codec, 1, q, kRows, codes, codes_bytes, kK, NULL, best_scores, best_ids));
  CHECK(best_ids[0] == 7);
  for (i = 0; i < kK; ++i) CHECK(best_scores[i] == scores[best_ids[i]]);
  for (i = 1; i < kK; ++i) CHECK(best_scores[i - 1] >= best_scores[i]);

  CHECK_OK(polar_query_prepare_from_code(codec, kRows, codes, codes_bytes, 7, &coded_query));
  CHECK_OK(polar_codec_score(codec, coded_query, kRows, codes, codes_bytes, NULL, scores));
  CHECK(fabs(scores[3] - dot(q, x + 3 * kDim)) < 0.1 * dot(q, q));
  CHECK_OK(polar_codec_score_codes(codec, 1, codes + 3 * info.code_bytes, info.code_bytes, 1,
                                   codes + 7 * info.code_bytes, info.code_bytes, NULL,
                                   &pair_score));
  CHECK(fabs(pair_score - dot(q, x + 3 * kDim)) < 0.1 * dot(q, q));
  polar_query_destroy(query);
  polar_query_destroy(coded_query);
}

static void check_reconstructions(const polar_codec* codec, const float* x, const uint8_t* codes,
                                  size_t codes_bytes) {
  static float decoded[kRows * kDim];
  float weights[kRows], combined[kDim], expected[kDim];
  int i, j;
  CHECK_OK(polar_codec_decode(codec, kRows, codes, codes_bytes, POLAR_RECONSTRUCTION_LEAST_ERROR,
                              NULL, decoded));
  for (i = 0; i < kRows; ++i) {
    CHECK(distance(decoded + i * kDim, x + i * kDim) < 0.02 * dot(x + i * kDim, x + i * kDim));
  }
  memset(expected, 0, sizeof expected);
  for (i = 0; i < kRows; ++i) {
    weights[i] = (float)(i % 7) - 3;
    for (j = 0; j < kDim; ++j) expected[j] += weights[i] * decoded[i * kDim + j];
  }
  CHECK_OK(polar_codec_combine(codec, kRows, codes, codes_bytes, 1, weights, NULL, combined));
  CHECK(distance(combined, expected) < 1e-6 * dot(expected, expected));
}

static void check_state(const polar_codec* codec, const float* x, const uint8_t* codes,
                        size_t codes_bytes) {
  polar_codec* copy = NULL;
  size_t needed = 0, again = 0;
  uint8_t* state;
  uint8_t* codes_again = malloc(codes_bytes);
  CHECK_OK(polar_codec_save_state(codec, NULL, 0, &needed));
  state = malloc(needed);
  CHECK_OK(polar_codec_save_state(codec, state, needed, &again));
  CHECK(again == needed);
  CHECK_OK(polar_codec_load_state(state, needed, &copy));
  CHECK_OK(polar_codec_check_same_state(codec, copy));
  CHECK_OK(polar_codec_encode(copy, kRows, x, NULL, codes_again, codes_bytes));
  CHECK(memcmp(codes, codes_again, codes_bytes) == 0);
  polar_codec_destroy(copy);
  free(state);
  free(codes_again);
}

static void check_codec(void) {
  static float x[kRows * kDim];
  char spec[16];
  float centre[kDim];
  size_t codes_bytes = 0, memory_bytes = 0;
  uint8_t* codes;
  polar_codec* codec = NULL;
  polar_codec_options options;
  polar_codec_info info;
  fill(x, kRows, 1);

  polar_codec_options_init(&options);
  options.seed = 12345;
  CHECK(polar_codec_create("Polar2x", kDim, POLAR_METRIC_L2, &options, &codec) != POLAR_OK &&
        codec == NULL);
  CHECK(polar_last_error(NULL, 0) > 0);
  CHECK_OK(polar_codec_create("Polar4", kDim, POLAR_METRIC_INNER_PRODUCT, &options, &codec));
  if (codec == NULL) return;
  CHECK_OK(polar_codec_train(codec, kRows, x, NULL));
  info.struct_size = sizeof info;
  CHECK_OK(polar_codec_get_info(codec, &info));
  CHECK(info.dim == kDim && info.metric == POLAR_METRIC_INNER_PRODUCT && info.is_trained == 1);
  CHECK(info.state_origin == 2 && info.group_rows == 1 && info.seed == 12345);
  CHECK(info.code_bytes == kDim / 2 + info.factor_bytes);
  CHECK(polar_codec_spec(codec, spec, sizeof spec) == 6 && strcmp(spec, "Polar4") == 0);
  CHECK_OK(polar_codec_get_centre(codec, centre));
  CHECK(fabs(sqrt(dot(centre, centre)) - info.centre_norm) < 1e-5);
  CHECK_OK(polar_codec_memory_bytes(codec, &memory_bytes));
  CHECK(memory_bytes > kDim * sizeof(float));

  CHECK_OK(polar_codec_encoded_bytes(codec, kRows, &codes_bytes));
  CHECK(codes_bytes == kRows * info.code_bytes);
  codes = malloc(codes_bytes);
  CHECK_OK(polar_codec_encode(codec, kRows, x, NULL, codes, codes_bytes));
  check_scores(codec, x, codes, codes_bytes);
  check_reconstructions(codec, x, codes, codes_bytes);
  check_state(codec, x, codes, codes_bytes);
  free(codes);
  polar_codec_destroy(codec);
}

static void check_index(void) {
  static float x[kRows * kDim];
  float scores[kK], row[kDim];
  int64_t ids[kK];
  size_t code_bytes = 0;
  polar_index* index = NULL;
  const polar_status status = polar_index_create("Polar4", kDim, POLAR_METRIC_L2, &index);
  if (status == POLAR_ERROR_UNSUPPORTED) {
    printf("no FAISS in this library: index calls not checked\n");
    return;
  }
  fill(x, kRows, 2);
  CHECK_OK(status);
  if (index == NULL) return;
  CHECK(polar_index_is_trained(index) == 1);
  CHECK_OK(polar_index_train(index, kRows, x, NULL));
  CHECK_OK(polar_index_add(index, kRows, x, NULL));
  CHECK(polar_index_ntotal(index) == kRows);
  CHECK_OK(polar_index_code_size(index, &code_bytes));
  CHECK(code_bytes > kDim / 2 && code_bytes < kDim);
  CHECK_OK(polar_index_search(index, 1, x + 9 * kDim, kK, NULL, scores, ids));
  CHECK(ids[0] == 9 && fabs(scores[0]) < 0.05 * dot(x + 9 * kDim, x + 9 * kDim));
  CHECK(scores[0] <= scores[1] && scores[3] <= scores[4]);
  CHECK_OK(polar_index_reconstruct(index, 9, row));
  CHECK(distance(row, x + 9 * kDim) < 0.02 * dot(row, row));
  CHECK(polar_index_reconstruct(index, kRows, row) == POLAR_ERROR_NOT_FOUND);
  polar_index_destroy(index);

  CHECK_OK(polar_index_create("Polar2", kDim, POLAR_METRIC_INNER_PRODUCT, &index));
  for (ids[0] = 0; ids[0] < kK; ++ids[0]) {
    const int64_t id = 1000 + ids[0];
    CHECK_OK(polar_index_add_with_ids(index, 1, x + ids[0] * kDim, &id, NULL));
  }
  CHECK_OK(polar_index_search(index, 1, x, 2, NULL, scores, ids));
  CHECK(ids[0] == 1000 && scores[0] >= scores[1]);
  polar_index_destroy(index);

  /* Rows in the lists of the caller's choice: each of the first in the list that it is the centroid
   * of. */
  CHECK_OK(polar_index_create("IVF5,Polar4", kDim, POLAR_METRIC_L2, &index));
  CHECK(polar_index_nlist(index) == kK && polar_index_nprobe(index) == 1);
  CHECK_OK(polar_index_train_with_centroids(index, kK, x, kRows, x, NULL));
  for (ids[0] = 0; ids[0] < kK; ++ids[0]) {
    const int64_t id = 1000 + ids[0];
    CHECK_OK(polar_index_add_to_lists(index, 1, x + ids[0] * kDim, &id, &ids[0], NULL));
  }
  CHECK_OK(polar_index_search(index, 1, x + 3 * kDim, kK, NULL, scores, ids));
  CHECK(ids[0] == 1003 && ids[1] == -1);
  CHECK_OK(polar_index_set_nprobe(index, kK));
  CHECK_OK(polar_index_search(index, 1, x + 3 * kDim, kK, NULL, scores, ids));
  CHECK(ids[0] == 1003 && ids[kK - 1] >= 1000);
  polar_index_destroy(index);
}

static void check_advice(void) {
  static float x[kRows * kDim];
  static const char* const specs[] = {"Polar2", "Polar4"};
  polar_advice* advice = NULL;
  polar_advice_options options;
  polar_advice_info info;
  polar_advice_row row;
  fill(x, kRows, 3);
  polar_advice_options_init(&options);
  options.k = kK;
  options.specs = specs;
  options.num_specs = 2;
  options.allowed_bytes = 20;
  CHECK_OK(polar_advice_create(kDim, POLAR_METRIC_L2, kRows, x, 0, NULL, &options, &advice));
  if (advice == NULL) return;
  info.struct_size = sizeof info;
  CHECK_OK(polar_advice_get_info(advice, &info));
  CHECK(info.rows == 2 && info.recommended == 0 && info.queries == kRows / 10);
  CHECK(strstr(info.reason, "Polar2") == info.reason);
  row.struct_size = sizeof row;
  CHECK_OK(polar_advice_get_row(advice, 1, &row));
  CHECK(strcmp(row.spec, "Polar4") == 0 && row.problem[0] == 0 && row.is_recommended == 0);
  CHECK(row.bytes_per_vector > 20 && row.recall > 0.5 && row.recall <= 1 && row.pays == 1);
  polar_advice_destroy(advice);
}

int main(void) {
  check_texts();
  check_codec();
  check_index();
  check_advice();
  polar_codec_destroy(NULL);
  polar_query_destroy(NULL);
  polar_index_destroy(NULL);
  polar_advice_destroy(NULL);
  if (failures == 0) printf("the C99 program found every result as documented\n");
  return failures == 0 ? 0 : 1;
}
