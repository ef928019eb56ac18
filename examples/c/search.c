/* SPDX-License-Identifier: MIT */
/* Codes 1000 vectors at 2 bits a dimension and searches the codes, which the program owns. */
#include <math.h>
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1000
#define DIM 384
#define K 3

static float rows[ROWS * DIM];

/* Ends the program with the library's text unless the call worked. */
static void check(polar_status status) {
  char text[256];
  if (status == POLAR_OK) return;
  polar_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

int main(void) {
  polar_codec* codec;
  polar_search_options options;
  polar_filter filter;
  size_t bytes;
  uint8_t* codes;
  float scores[K];
  int64_t ids[K];
  int i;

  /* Stands in for your embeddings. */
  for (i = 0; i < ROWS * DIM; ++i) rows[i] = (float)rand() / (float)RAND_MAX - 0.5f;

  check(polar_codec_create("Polar2", DIM, POLAR_METRIC_COSINE, NULL, &codec));
  check(polar_codec_train(codec, ROWS, rows, NULL)); /* optional: learns the mean */
  check(polar_codec_encoded_bytes(codec, ROWS, &bytes));
  codes = malloc(bytes);
  if (codes == NULL) return 1;
  check(polar_codec_encode(codec, ROWS, rows, NULL, codes, bytes));

  /* The nearest to row 7 is row 7. */
  check(polar_codec_search(codec, 1, rows + 7 * DIM, ROWS, codes, bytes, K, NULL, scores, ids));
  for (i = 0; i < K; ++i) printf("row %d, cosine about %.2f\n", (int)ids[i], scores[i]);

  /* The same among rows 100 to 199, each of them scored. */
  polar_search_options_init(&options);
  polar_filter_init(&filter);
  filter.kind = POLAR_FILTER_RANGE;
  filter.range.first = 100;
  filter.range.end = 200;
  options.filter = &filter;
  options.exactness = INFINITY;
  check(polar_codec_search(codec, 1, rows + 7 * DIM, ROWS, codes, bytes, K, &options, scores, ids));
  printf("of rows 100 to 199: row %d\n", (int)ids[0]);

  free(codes);
  polar_codec_destroy(codec);
  return 0;
}
