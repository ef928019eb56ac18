/* SPDX-License-Identifier: MIT */
/* Asks which code to take for 2000 vectors: the fewest bytes that find 9 of 10 neighbours. */
#include <polarquant/polarquant.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2000
#define DIM 96

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
  polar_advice* advice;
  polar_advice_options options;
  polar_advice_info info;
  polar_advice_row row;
  int64_t i;

  /* Stands in for a sample of your embeddings. */
  for (i = 0; i < ROWS * DIM; ++i) rows[i] = (float)rand() / (float)RAND_MAX - 0.5f;

  polar_advice_options_init(&options);
  options.wanted_recall = 0.9;
  options.total_rows = 1000000; /* the sample is a part of them */
  check(polar_advice_create(DIM, POLAR_METRIC_COSINE, ROWS, rows, 0, NULL, &options, &advice));
  info.struct_size = sizeof info;
  check(polar_advice_get_info(advice, &info));
  printf("%s\n", info.reason);
  row.struct_size = sizeof row;
  for (i = 0; i < info.rows; ++i) {
    check(polar_advice_get_row(advice, i, &row));
    printf("%-12s %4.0f bytes, recall@10 %.3f%s\n", row.spec, row.bytes_per_vector, row.recall,
           row.is_recommended ? " <- take this" : "");
  }
  polar_advice_destroy(advice);
  return 0;
}
